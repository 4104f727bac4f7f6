"""Templates that are built as those of well-known models are, each with what makes it difficult."""

import json
from datetime import datetime
from typing import Any

from jinja2 import Environment
from jinja2.ext import loopcontrols
from jinja2.sandbox import ImmutableSandboxedEnvironment


def reference() -> Environment:
    """Jinja in its sandbox, with the settings and helpers that transformers gives to a template."""

    def raise_exception(message: str) -> None:
        raise ValueError(message)

    def tojson(value: Any, ensure_ascii: bool = False, indent: int | None = None, sort_keys: bool = False) -> str:
        return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, sort_keys=sort_keys)

    environment = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True, extensions=[loopcontrols])
    environment.globals["raise_exception"] = raise_exception
    environment.globals["strftime_now"] = lambda form: datetime.now().strftime(form)
    environment.filters["tojson"] = tojson
    return environment


CONSTRUCTIONS = {
    # a default system message, string addition
    "chatml": (
        "{% for message in messages %}{% if loop.first and messages[0]['role'] != 'system' %}"
        "{{ '<|im_start|>system\nBe kind.<|im_end|>\n' }}{% endif %}"
        "{{'<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n'}}{% endfor %}"
        "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
    ),
    # the system message goes into the first turn; turns must alternate; slices; strip()
    "instruct": (
        "{% if messages[0]['role'] == 'system' %}{% set loop_messages = messages[1:] %}"
        "{% set system_message = messages[0]['content'] %}{% else %}{% set loop_messages = messages %}"
        "{% set system_message = false %}{% endif %}{% for message in loop_messages %}"
        "{% if (message['role'] == 'user') != (loop.index0 % 2 == 0) %}"
        "{{ raise_exception('Roles must alternate user/assistant/user/assistant/...') }}{% endif %}"
        "{% if loop.index0 == 0 and system_message != false %}"
        "{% set content = '<<SYS>>\\n' + system_message + '\\n<</SYS>>\\n\\n' + message['content'] %}"
        "{% else %}{% set content = message['content'] %}{% endif %}{% if message['role'] == 'user' %}"
        "{{ bos_token + '[INST] ' + content.strip() + ' [/INST]' }}{% elif message['role'] == 'assistant' %}"
        "{{ ' '  + content.strip() + ' ' + eos_token }}{% endif %}{% endfor %}"
    ),
    # headers, trim, dates, questions about what is defined, minus signs
    "headers": """{{- bos_token }}
{%- if custom_tools is defined %}
    {%- set tools = custom_tools %}
{%- endif %}
{%- if not date_string is defined %}
    {%- if strftime_now is defined %}
        {%- set date_string = strftime_now("%d %b %Y") %}
    {%- else %}
        {%- set date_string = "26 Jul 2024" %}
    {%- endif %}
{%- endif %}
{#- the system message, if there is one #}
{%- if messages[0]['role'] == 'system' %}
    {%- set system_message = messages[0]['content']|trim %}
    {%- set messages = messages[1:] %}
{%- else %}
    {%- set system_message = "" %}
{%- endif %}
{{- "<|start|>system<|end|>\\n\\n" }}
{%- if tools is not none %}
    {{- "Environment: ipython\\n" }}
    {%- for t in tools %}
        {{- t | tojson(indent=4) }}
    {%- endfor %}
{%- endif %}
{{- "Today Date: " + date_string + "\\n\\n" }}
{{- system_message }}
{{- "<|eot|>" }}
{%- for message in messages %}
    {%- if not (message.role == 'ipython' or message.role == 'tool' or 'tool_calls' in message) %}
        {{- '<|start|>' + message['role'] + '<|end|>\\n\\n'+ message['content'] | trim + '<|eot|>' }}
    {%- elif message.role in ["tool", "ipython"] %}
        {%- if message.content is mapping or message.content is iterable %}
            {{- message.content | tojson }}
        {%- else %}
            {{- message.content }}
        {%- endif %}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|start|>assistant<|end|>\\n\\n' }}
{%- endif %}
""",
    # namespaces, loops over a reversed list, splitting, nested conditions
    "thinking": """{%- set ns = namespace(multi_step_tool=true, last_query_index=messages|length - 1) %}
{%- for message in messages[::-1] %}
    {%- set index = (messages|length - 1) - loop.index0 %}
    {%- if ns.multi_step_tool and message.role == "user" and message.content is string %}
        {%- set ns.multi_step_tool = false %}
        {%- set ns.last_query_index = index %}
    {%- endif %}
{%- endfor %}
{%- for message in messages %}
    {%- if message.content is string %}
        {%- set content = message.content %}
    {%- else %}
        {%- set content = '' %}
    {%- endif %}
    {%- if message.role == "assistant" %}
        {%- set reasoning_content = '' %}
        {%- if message.reasoning_content is string %}
            {%- set reasoning_content = message.reasoning_content %}
        {%- else %}
            {%- if '</think>' in content %}
                {%- set reasoning_content = content.split('</think>')[0].rstrip('\\n').split('<think>')[-1] %}
                {%- set content = content.split('</think>')[-1].lstrip('\\n') %}
            {%- endif %}
        {%- endif %}
        {%- if loop.index0 > ns.last_query_index and (loop.last or (not loop.last and reasoning_content)) %}
            {{- '<|im_start|>' + message.role + '\\n<think>\\n' + reasoning_content.strip('\\n') + '\\n</think>' }}
            {{- '\\n\\n' + content.lstrip('\\n') }}
        {%- else %}
            {{- '<|im_start|>' + message.role + '\\n' + content }}
        {%- endif %}
        {{- '<|im_end|>\\n' }}
    {%- else %}
        {{- '<|im_start|>' + message.role + '\\n' + content + '<|im_end|>' + '\\n' }}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|im_start|>assistant\\n' }}
    {%- if enable_thinking is defined and enable_thinking is false %}
        {{- '<think>\\n\\n</think>\\n\\n' }}
    {%- endif %}
{%- endif %}
""",
    # lines and blanks that only trim_blocks and lstrip_blocks explain
    "lines": """{% for message in messages %}
  {% if message['role'] == 'user' %}
<|user|>
{{ message['content'] }}{{ eos_token }}
  {% elif message['role'] == 'system' %}
\t{{ '<|system|>\\n' + message['content'] + eos_token }}
  {% else %}
x {% if true %}y{% endif %} z
    {%+ if false %}{% endif %}
<|assistant|>
{{ message['content'] -}}
   {{- eos_token }}
  {% endif %}
  {# a remark #}
  {% if loop.last and add_generation_prompt %}
<|assistant|>

  {% endif %}
{% endfor %}

""",
    # filters over lists, loops with conditions and pairs, else of a loop, break and continue
    "filters": """{% set system = messages | selectattr("role", "equalto", "system") | map(attribute="content")|list %}
{% set rest = messages | rejectattr('role', 'equalto', 'system') | list %}
{{ system | join('; ') | default('none', true) }}|{{ rest | length }}|{{ (rest|first).role }}|{{ (rest|last)['role'] }}
{%- for message in rest if message.role != 'assistant' %}
{{ loop.index }}/{{ loop.length }} {{ message.content | upper | replace("A", "b") }}
{%- if loop.index == 3 %}{% break %}{% endif %}
{%- if not message.content %}{% continue %}{% endif %}
 {{ message.content | trim | length }}{{ loop.nextitem.role if loop.nextitem is defined }}
{% else %}nobody{% endfor %}
{% for key, value in rest[0].items() %}{{ key ~ '=' ~ value | tojson }},{% endfor %}
{{ rest[0].get('name', 'no name') }}{{ 1 if rest|length > 2 else 2 if rest|length > 1 else 3 }}
{%- set answers %}{% for m in rest %}{{ m.role[0] }}{% endfor %}{% endset %}[{{ answers }}]
{{- ['a', 1, none, true, 1.5, {'b': (2, 3)}] }}{{ missing }}{{ missing|default('d') }}{{ -3 // 2 }}{{ 7 % 3 * 2 + 1 }}
{{- 'a' 'b' ~ 1 }}{{ '\\x41\\u4e2d\\'' }}{{ not true or 1 < 2 <= 2 }}{{ 'x' not in ['y'] }}{{ none }}{{ 5 is odd }}
{{- "a,b,,c".split(",") }}{{ " x ".strip() is string }}{{ 'abc'[1:] ~ 'abc'[-1] ~ 'abc'[9] }}{{ {'a': {'b': 1}}.a.b }}
""",
}
