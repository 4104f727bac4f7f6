"""Writing within a form: a choice, a regular expression or a JSON schema becomes, at every step, the tokens allowed.

The way of a form: `regex` or `json_schema` reads it into a `grammar`; `byte_network` spells that in bytes; `automaton`
walks it; `token_trie` walks all tokens of a vocabulary at once; `token_masks` is what a decoder asks.
"""
