"""From text files to batches: corpora are fetched, read, tokenised once into shards, planned and collated.

Reading order: `corpora` (pairs of sentences), `tokenise` and `shards` (ids on disk), `batching` (which sentences go
together), `collate` (tensors; the only file here that needs torch). `toy` makes data that needs no file; `catalogue`,
`fetch` and `download` bring known corpora.
"""
