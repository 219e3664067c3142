#!/usr/bin/env python3
"""Writes tests/data/templates/vectors.jsonl: what Jinja2 makes of many small templates.

    python3 -m venv /tmp/venv && /tmp/venv/bin/pip install jinja2==3.1.6
    /tmp/venv/bin/python make-vectors.py [--random N] [--seed S] > ../../data/templates/vectors.jsonl

The environment is that of chat templates: trim_blocks, lstrip_blocks, loop controls, a generation
tag without effect, tojson without HTML escaping, raise_exception, strftime_now, from_json.
A line {"vars": ...} sets the variables of the lines behind it; a line {"template", "expected"} is a
vector, with expected null if rendering fails. What Kvasir leaves out on purpose (integers beyond 64
bits, the names of host objects) is not written.
"""
import argparse
import datetime
import json
import random
import re
import sys
import warnings

import jinja2
from jinja2 import nodes
from jinja2.ext import Extension
from jinja2.sandbox import SandboxedEnvironment

NOW = datetime.datetime(2026, 3, 7, 14, 5, 9)

VARS = {
    "messages": [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": " Hello, wörld \n"},
        {"role": "assistant", "content": "Hi!", "tool_calls": [{"id": "c1", "n": 1.0}]},
        {"role": "user", "content": "<|im_end|> 'x' \"y\" ÀÉ ß 日本 🐝"},
    ],
    "n": 7, "neg": -3, "f": 2.5, "big": 9007199254740993, "zero": 0, "t": True, "no": False,
    "nil": None, "s": "hello World", "u": "Grüße, ΑΣ straße", "empty": "",
    "l": [3, 1, 2], "words": ["bee", "Ant", "cat", "ant"], "nested": [[1, 2], [3, [4]]],
    "d": {"a": 1, "B": 2.0, "c": None, "items": "shadow", "k": {"deep": [1, 2]}},
    "rows": [{"name": "x", "v": 2}, {"name": "Y", "v": 1}, {"name": "z"}],
}

HAND = r"""
{{ 1 + 1 }} {{ 7 // 2 }} {{ -7 // 2 }} {{ 7 // -2 }} {{ -7 % 3 }} {{ 7 % -3 }} {{ 7.5 // 2 }} {{ -7.5 % 2 }} {{ 7 % -2.5 }}
{{ 2 ** 10 }} {{ 2 ** -1 }} {{ 2 ** 3 ** 2 }} {{ -2 ** 2 }} {{ 2.5 ** 2 }} {{ 0 ** 0 }} {{ (-8) ** 3 }}
{{ 1 / 3 }} {{ 1e16 }} {{ 1e15 }} {{ 123456789012345680.0 }} {{ 1e-4 }} {{ 1e-5 }} {{ 1.5e300 * 1e10 }} {{ 0.1 + 0.2 }} {{ 1.0 }} {{ -0.0 }} {{ 100.0 }} {{ 1e22 }} {{ 5e-324 }}
{{ 1e308 * 10 }} {{ -1e308 * 10 }} {{ 1e400 }}
{{ 'a' 'b' ~ 1 }} {{ 1 ~ 2 ~ none ~ true ~ 1.5 ~ [1] ~ {'a': 1} }}
{{ 1 < 2 < 3 }} {{ 1 < 3 < 2 }} {{ 1 == 1.0 }} {{ true == 1 }} {{ 'a' == 'a' != 'b' }} {{ [1, 2] < [1, 3] }} {{ (1,) < (1, 2) }} {{ 'Z' < 'a' }}
{{ none == none }} {{ none == false }} {{ x == y }} {{ x == none }} {{ x != none }}
{{ 1 < 'a' }}
{{ none < 1 }}
{{ [1] < (1,) }}
{{ {'a': 1} < {'a': 2} }}
{{ {'a': 1, 'b': 2} == {'b': 2, 'a': 1.0} }} {{ {1: 2} == {1.0: 2} }} {{ [1, [2]] == [1.0, [2.0]] }} {{ (1, 2) == [1, 2] }}
{{ not a }} {{ not not 1 }} {{ not '' and 1 }} {{ 0 or '' or [] or 'z' }} {{ 1 and 2 and 3 }} {{ 1 and 0 and x.y }}
{{ 'x' if false }}|{{ 'x' if true }}|{{ 1 if n > 5 else 2 }}|{{ 1 if 0 else 2 if 0 else 3 }}|{{ (1 if 0) is defined }}
{{ -n }} {{ +n }} {{ - - 3 }} {{ -f }} {{ -t }} {{ -'a' }}
{{ - 3 | abs }} {{ (-3) | abs }} {{ -3.5 | abs }} {{ true | abs }}
{{ 'a' * 3 }} {{ 3 * 'a' }} {{ 'a' * 0 }}{{ 'a' * -1 }} {{ [1] * 2 }} {{ 2 * (1, 2) }} {{ 'ab' * true }}
{{ 'a' + 1 }}
{{ 1 + 'a' }}
{{ [1] + (2,) }}
{{ 'a' - 'b' }}
{{ none + 1 }}
{{ {'a': 1} + {'b': 2} }}
{{ 5 / 0 }}
{{ 5 % 0 }}
{{ 5.0 // 0 }}
{{ 0 ** -1 }}
{{ x + 1 }}
{{ x.y }}
{{ x['y'] }}
{{ x() }}
{{ x[1:] }}
{{ -x }}
{{ x < 1 }}
{{ 1 in x }} {{ x in [1] }} {{ x in [x] }} {{ x | length }} {{ x | list }} {{ x | join }} {{ x | upper }} {{ x | first is defined }} {{ x | last is defined }} {{ x | default(3) }} {{ x | sort }} {{ x | unique | list }} {{ x | map('upper') | list }} {{ x | string }}. {{ x | sum }} {{ x | min is defined }} {{ x | items | list }} {{ x | trim }} {{ x | replace('a', 'b') }} {{ x | reverse | list }} {{ [x] }} {{ x | wordcount }} {{ x | title }} {{ x | e }} {{ x | select | list }} {{ x | batch(2) | list }}
{{ x | abs }}
{{ x | int }}
{{ x | float }}
{{ x | round }}
{{ x | tojson }}
{{ x | dictsort }}
{{ x | indent }}
{{ x | from_json }}
{{ x is iterable }} {{ x is sequence }} {{ x is mapping }} {{ x is string }} {{ x is none }} {{ x is number }} {{ x is callable }} {{ x is lower }} {{ x is upper }} {{ x is sameas x }}
{{ 'a' in 'abc' }} {{ '' in 'abc' }} {{ 'd' not in 'abc' }} {{ 1 in [1.0] }} {{ 'a' in d }} {{ 'z' in d }} {{ 2 in range(3) }} {{ 3 in range(3) }} {{ 1 in (1, 2) }} {{ [1] in [[1]] }}
{{ 1 in 'abc' }}
{{ none in 'abc' }}
{{ 'a' in 1 }}
{{ [1] in d }}
{{ l[0] }} {{ l[-1] }} {{ l[true] }} {{ l[9] }}|{{ l['a'] }}|{{ l[none] }}|{{ l[1.0] }}|{{ l.0 }} {{ nested.1.1.0 }}
{{ s[0] }} {{ s[-1] }} {{ s[99] }}|{{ s['upper']() }} {{ u[2] }} {{ u[-1] }}
{{ d.a }} {{ d['a'] }} {{ d.zz }}|{{ d['zz'] }}|{{ d.k.deep[1] }} {{ d['k']['deep'] }} {{ d[1] }}|{{ d[none] }}|{{ d[[1]] }}|
{{ d['items'] }} {{ d.items() | list | length }} {{ d.items is callable }} {{ d.get('items') }}
{{ none.x }}|{{ none['x'] }}|{{ n.x }}|{{ n['x'] }}|{{ true.x }}|{{ f[0] }}
{{ l[1:] }} {{ l[:1] }} {{ l[::2] }} {{ l[::-1] }} {{ l[-2:] }} {{ l[:-2] }} {{ l[5:] }} {{ l[2:0:-1] }} {{ l[2::-2] }} {{ l[:] }} {{ l[none:none:none] }} {{ l[-99:99] }} {{ l[99:-99:-1] }}
{{ s[1:4] }} {{ s[::-1] }} {{ s[::3] }} {{ s[-3:] }} {{ s[:-3] }} {{ u[1:4] }} {{ u[::-2] }} {{ s[4:1] }}| {{ u[8:2:-2] }}
{{ (1, 2, 3)[1:] }} {{ range(10)[2:8:2] | list }} {{ range(10)[::-3] | list }} {{ range(5)[-1] }}
{{ d[1:] }}
{{ nil[1:] }}
{{ l['a':] }}
{{ l[x:] }}
{{ s[f:] }}
{{ l[::0] }}
{{ range(3) }} {{ range(1, 4) }} {{ range(0, 10, 3) }} {{ range(5, 0, -2) }} {{ range(0) | list }} {{ range(3) | length }} {{ range(3) == range(0, 3) }} {{ range(0, 3, 2) == range(0, 4, 2) }}
{{ range(1, 2, 0) }}
{{ range('a') }}
{{ range(100001) }}
{{ range(1.5) }}
{{ [1, 2, 3,] }} {{ (1, 2) }} {{ (1,) }} {{ () }} {{ {} }} {{ {'a': 1, 2: 'b', none: 3, true: 4, 1.5: 5} }} {{ {1: 'a', 1.0: 'b', true: 'c'} }} {{ 1, 2 }} {{ {(1, 2): 3}[(1, 2)] }}
{{ {[1]: 2} }}
{{ "a\tb\n" }} {{ 'a\\b' }} {{ '\x41\u00e9\U0001F41D' }} {{ '\101\0' | length }} {{ '\d' }} {{ 'it\'s' }} {{ "\"" }}
{{ ["a'b", 'a"b', 'a\'"b', 'a\nb\t\\', '\x00\x7f\u200b\xad é 日', '\u2028'] }}
{{ 0x1F }} {{ 0b101 }} {{ 0o17 }} {{ 1_000 }} {{ 1_0.5_0 }} {{ 1e1_0 }} {{ 00 }}
{{ s.upper() }} {{ s.lower() }} {{ s.title() }} {{ s.capitalize() }} {{ u.upper() }} {{ u.lower() }} {{ u.title() }} {{ u.capitalize() }}
{{ s | upper }} {{ s | lower }} {{ s | title }} {{ s | capitalize }} {{ u | upper }} {{ u | lower }} {{ u | title }} {{ u | capitalize }}
{{ "they're bill's (friends) {x} [y] <z> a-b" | title }} {{ "they're bill's a1b ßx ǆx" | title }} {{ "they're bill's a1b ßx".title() }} {{ 'ΑΣ ΑΣΑ Σ'.lower() }} {{ 'İ'.lower() | length }} {{ 'ŉﬁǰ'.upper() }} {{ 'ﬁx'.capitalize() }} {{ 'ǆ'.capitalize() }}
{{ ' \t\n a b \x1c\u2003'.strip() }}| {{ 'xxaxx'.strip('x') }} {{ 'abcba'.lstrip('ab') }} {{ 'abcba'.rstrip('ab') }} {{ 'äöä'.strip('ä') }} {{ 'aaa'.strip('a') }}| {{ 'a'.strip('') }} {{ 'a '.strip(none) }}|
{{ 'a'.strip(1) }}
{{ 'a,b,,c'.split(',') }} {{ ' a  b\tc\n'.split() }} {{ 'a,b,c'.split(',', 1) }} {{ 'a b c'.split(none, 1) }} {{ ''.split() }} {{ ''.split(',') }} {{ 'abc'.split('abc') }} {{ 'a b  c '.split(maxsplit=1) }} {{ 'a--b--c'.split(sep='--') }} {{ 'a,b'.split(',', 0) }} {{ '  a b'.split(none, 0) }}
{{ 'a,b,c'.rsplit(',', 1) }} {{ ' a b  c '.rsplit(none, 1) }} {{ 'a b c'.rsplit() }} {{ 'a,,b'.rsplit(',') }} {{ ' a b '.rsplit(none, 0) }}
{{ 'abc'.split('') }}
{{ 'abc'.split(1) }}
{{ 'a\nb\r\nc\rd\x0be\u2028f\n'.splitlines() }} {{ 'a\nb'.splitlines(true) }} {{ ''.splitlines() }} {{ '\n'.splitlines() }} {{ 'a\r\n'.splitlines(keepends=true) }}
{{ s.startswith('he') }} {{ s.startswith(('x', 'h')) }} {{ s.endswith('ld') }} {{ s.endswith(()) }} {{ s.startswith('') }}
{{ s.startswith(1) }}
{{ s.find('o') }} {{ s.find('zz') }} {{ s.rfind('o') }} {{ s.find('o', 5) }} {{ s.find('o', 0, 3) }} {{ u.find('s') }} {{ u.find('') }} {{ s.find('', 99) }} {{ s.index('W') }} {{ s.count('l') }} {{ s.count('') }} {{ u.count('ß') }} {{ 'aaaa'.count('aa') }} {{ s.find('l', -3) }} {{ s.rfind('l', 0, -2) }}
{{ s.index('zz') }}
{{ s.replace('l', 'L') }} {{ s.replace('l', 'L', 1) }} {{ s.replace('', '-') }} {{ s.replace('', '-', 3) }} {{ 'aaa'.replace('aa', 'b') }} {{ u.replace('ß', 'ss') }} {{ ''.replace('', 'x') }} {{ s | replace('o', '0') }} {{ s | replace('l', '', 1) }} {{ 12321 | replace(2, 'x') }} {{ 'abc' | replace('', '.', 2) }}
{{ ', '.join(['a', 'b']) }} {{ ''.join('abc') }} {{ '-'.join([]) }}| {{ '-'.join({'x': 1, 'y': 2}) }}
{{ ','.join([1]) }}
{{ s.partition(' ') }} {{ s.rpartition('o') }} {{ s.partition('zz') }} {{ s.rpartition('zz') }} {{ s.removeprefix('hello ') }} {{ s.removesuffix('ld') }} {{ s.removeprefix('x') }}
{{ '12'.isdigit() }} {{ '1a'.isdigit() }} {{ ''.isdigit() }} {{ '²'.isdigit() }} {{ '²'.isdecimal() }} {{ '½'.isnumeric() }} {{ 'aß'.isalpha() }} {{ 'a1'.isalnum() }} {{ ' \n'.isspace() }} {{ 'abc1'.islower() }} {{ 'ABC1'.isupper() }} {{ '1'.islower() }} {{ 'aB'.isupper() }}
{{ '{} {}'.format(1, 'a') }} {{ '{1} {0}'.format('a', 'b') }} {{ '{x}'.format(x=1) }} {{ '{{}}'.format() }} {{ '{0[a]} {1.a}'.format({'a': 5}, d) }} {{ '{:>5}|{:<5}|{:^5}|{:*^7}|{:05d}|{:+d}|{:,}|{:.2f}|{:x}|{:#x}|{:b}|{:e}|{:%}|{!r}|{:5}|{:5}|'.format('a', 'b', 'c', 'd', 42, 5, 1234567, 3.14159, 255, 255, 5, 12345.678, 0.25, 'q', 1, 'z') }}
{{ '{}'.format() }}
{{ '{x}'.format(1) }}
{{ '{'.format(1) }}
{{ '}'.format(1) }}
{{ '{:d}'.format('a') }}
{{ '%s %d %5.2f %x %r %%' % ('a', 3, 2.5, 255, 'b') }} {{ '%s' % 1 }} {{ '%(a)s %(B)s' % d }} {{ '%-5s|%5s|%05d|%+d|% d|%e|%g|%c' | format('a', 'b', 42, 5, 6, 1.5, 1e10) if false }} {{ '%-5s|%5s|%05d|%+d|% d|%e|%g' % ('a', 'b', 42, 5, 6, 1.5, 1e10) }} {{ '%.2s' % 'abc' }} {{ '%s' | format([1]) }} {{ '%d' % 2.9 }} {{ '%i' % true }} {{ 'x' % () }} {{ '%(x)d' | format(x=3) }}
{{ '%s %s' % 'a' }}
{{ '%d' % 'a' }}
{{ '%s' % ('a', 'b') }}
{{ 'x' % 1 }}
{{ '%y' % 1 }}
{{ 5.5 | int }} {{ '5' | int }} {{ ' 5 ' | int }} {{ '5.9' | int }} {{ 'x' | int }} {{ 'x' | int(3) }} {{ '0x1F' | int(base=16) }} {{ 'ff' | int(0, 16) }} {{ '1_000' | int }} {{ true | int }} {{ none | int }} {{ [] | int(5) }} {{ '-7' | int }} {{ '+7' | int }} {{ '1e3' | int }} {{ 'inf' | int(4) }} {{ '' | int }} {{ '--1' | int }} {{ '0b11' | int(0, 0) }}
{{ '2.5' | float }} {{ 'x' | float }} {{ 'x' | float(1.5) }} {{ 3 | float }} {{ none | float }} {{ '1e400' | float }} {{ 'nan' | float }} {{ '-inf' | float }} {{ ' 1_0.5 ' | float }} {{ '1__0' | float }} {{ '0x1p3' | float }} {{ true | float }}
{{ 2.5 | round }} {{ 3.5 | round }} {{ 2.675 | round(2) }} {{ 2.5 | round(0, 'ceil') }} {{ 2.5 | round(method='floor') }} {{ 1234.5 | round(-2) }} {{ 1234 | round(-2) }} {{ 1250 | round(-2) }} {{ 1350 | round(-2) }} {{ 7 | round }} {{ 7 | round(1, 'ceil') }} {{ -2.5 | round }} {{ 0.1234 | round(3) }} {{ true | round }} {{ 1.05 | round(1, 'ceil') }}
{{ 'a' | round }}
{{ 1 | round(1, 'x') }}
{{ l | sort }} {{ l | sort(reverse=true) }} {{ l | sort(true) }} {{ words | sort }} {{ words | sort(case_sensitive=true) }} {{ words | sort(reverse=true) }} {{ rows | sort(attribute='name') | map(attribute='name') | list }} {{ rows[:2] | sort(attribute='v') | map(attribute='name') | list }} {{ rows[:2] | sort(attribute='v,name', reverse=true) | map(attribute='v') | list }} {{ 'hello' | sort }} {{ d | sort }} {{ [none, none] | sort }} {{ [2, 1.5, true] | sort }} {{ nested | sort }}
{{ [1, 'a'] | sort }}
{{ [none, 1] | sort }}
{{ rows | sort(attribute='v') }}
{{ l | min }} {{ l | max }} {{ words | min }} {{ words | max }} {{ words | min(case_sensitive=true) }} {{ rows | min(attribute='name') }} {{ [] | min }}| {{ rows[:2] | max(attribute='v') }} {{ 'hello' | max }} {{ [1, 1.0] | max }} {{ [1.0, 1] | max }}
{{ [1, 'a'] | min }}
{{ l | sum }} {{ rows[:2] | sum(attribute='v') }} {{ l | sum(start=10) }} {{ [] | sum }} {{ [1.5, 2] | sum }} {{ [[1], [2]] | sum(start=[]) }} {{ [true, true] | sum }}
{{ ['a'] | sum }}
{{ l | first }} {{ l | last }} {{ [] | first }}|{{ [] | last }}|{{ s | first }} {{ u | last }} {{ d | first }} {{ (1, 2) | last }} {{ range(3) | last }} {{ d | last }}
{{ l | map('string') | last }}
{{ l | reverse | list }} {{ s | reverse }} {{ u | reverse }} {{ (1, 2) | reverse | list }} {{ range(3) | reverse | list }} {{ d | reverse | list }} {{ l | map('string') | reverse }}
{{ l | unique | list }} {{ words | unique | list }} {{ words | unique(true) | list }} {{ rows | unique(attribute='v') | map(attribute='name') | list }} {{ [1, 1.0, true, 'a', 'A'] | unique | list }} {{ [none, none] | unique | list }}
{{ [[1], [1]] | unique | list }}
{{ l | join(',') }} {{ l | join }} {{ 'abc' | join('-') }} {{ rows | join(',', attribute='name') }} {{ [none, 1.5, 'x', [1]] | join('|') }} {{ d | join(',') }} {{ l | join(1) }} {{ rows | join(attribute='name', d='+') }}
{{ l | batch(2) | list }} {{ l | batch(2, 'x') | list }} {{ 'abcde' | batch(3) | list }} {{ [] | batch(2) | list }}
{{ d | dictsort }} {{ d | dictsort(true) }} {{ {'b': 2, 'a': 3} | dictsort(by='value') }} {{ {'b': 2, 'a': 3} | dictsort(reverse=true) }} {{ {'B': 'x', 'a': 'Y'} | dictsort(false, 'value') }}
{{ {'a': none, 'b': none} | dictsort(by='value') }}
{{ {'a': 1, 2: 1} | dictsort }}
{{ d | dictsort(by='x') }}
{{ l | dictsort }}
{{ d | items | list }} {{ d | list }} {{ d | length }} {{ d | count }} {{ s | length }} {{ u | length }} {{ (1, 2) | length }}
{{ 1 | length }}
{{ none | length }}
{{ l | items }}
{{ l | map('string') | length }}
{{ 1 | list }}
{{ none | join }}
{{ words | map('upper') | list }} {{ words | map('replace', 'a', 'b') | list }} {{ rows | map(attribute='v') | list }} {{ rows | map(attribute='v', default=0) | list }} {{ nested | map('first') | list }} {{ nested | map(attribute=0) | list }} {{ [{'a': [5]}] | map(attribute='a.0') | list }} {{ words | map('truncate', 2, true, '') | list }} {{ 'ab' | map('upper') | join }} {{ words | map('length') | sum }} {{ [] | map('nope') | list }}
{{ rows | map(attribute='v.x') | list }}
{{ words | map('nope') | list }}
{{ words | map | list }}
{{ rows | map(attribute='v', x=1) | list }}
{{ l | select('odd') | list }} {{ l | reject('odd') | list }} {{ l | select('gt', 1) | list }} {{ l | select('in', [1, 3]) | list }} {{ [0, 1, '', none] | select | list }} {{ [0, 1, '', none] | reject | list }} {{ l | select('divisibleby', 2) | list }} {{ l | select('divisibleby', num=2) | list }}
{{ rows | selectattr('v') | map(attribute='name') | list }} {{ rows | selectattr('v', 'defined') | map(attribute='name') | list }} {{ rows | rejectattr('v', 'defined') | map(attribute='name') | list }} {{ rows | selectattr('v', 'eq', 1) | map(attribute='name') | list }} {{ rows | selectattr('name', 'in', ['x', 'z']) | list | length }} {{ messages | selectattr('role', 'equalto', 'user') | map(attribute='content') | list }} {{ [{'a': {'b': 1}}, {'a': {'b': 0}}] | selectattr('a.b') | list }}
{{ rows | selectattr | list }}
{{ rows | selectattr('v', 'nope') | list }}
{{ rows | selectattr('v', 'gt', 0) | list }}
{% if [] | select %}T{% else %}F{% endif %}{% if [0] | select %}T{% else %}F{% endif %}
{% set g = [1, 2] | map('string') %}{{ g | list }}{{ g | list }} {% set r = l | reverse %}{{ r | first }}{{ r | first }}{{ r | first }}{{ r | first }}
{{ none is none }} {{ 1 is number }} {{ true is number }} {{ 1.0 is float }} {{ 1 is integer }} {{ true is integer }} {{ true is boolean }} {{ 1 is boolean }} {{ 'a' is string }} {{ [] is sequence }} {{ {} is mapping }} {{ {} is sequence }} {{ 'a' is sequence }} {{ range(2) is sequence }} {{ d.items() is sequence }} {{ d.items() is iterable }} {{ 1 is iterable }} {{ 'a' is iterable }} {{ (l | map('string')) is iterable }} {{ (l | map('string')) is sequence }} {{ namespace() is mapping }} {{ true is true }} {{ 1 is true }} {{ 0 is false }} {{ false is false }}
{{ 3 is odd }} {{ 3 is even }} {{ -3 is odd }} {{ 3.0 is odd }} {{ 4 is divisibleby 2 }} {{ 4 is divisibleby(3) }} {{ 1 is eq 1 }} {{ 1 is ne 1 }} {{ 1 is lt 2 }} {{ 1 is le 1 }} {{ 1 is gt 2 }} {{ 1 is ge 1 }} {{ 1 is equalto 1.0 }} {{ 1 is lessthan 2 }} {{ 1 is greaterthan 2 }} {{ 1 is sameas 1 }} {{ 1 is sameas true }} {{ l is sameas l }} {{ [1] is sameas [1] }} {{ 'a' is in 'abc' }} {{ 'a' is not in ['b'] }} {{ 'upper' is filter }} {{ 'nope' is filter }} {{ 'odd' is test }} {{ range is callable }} {{ 1 is callable }} {{ 'abc' is lower }} {{ 'ABC' is upper }} {{ 'a1' is lower }} {{ '1' is upper }}
{{ 'a' is odd }}
{{ 1 is nope }}
{{ 1 is divisibleby 0 }}
{{ 1 is not none and 2 is defined }} {{ not x is defined }} {{ x is not defined or x.y }} {{ 1 if x is defined else 2 }} {{ 3 is odd is defined }}
{{ 1 + 2 is odd }} {{ (1 + 2) is odd }} {{ 2 * 3 is odd }} {{ n is odd and f is float }} {{ 5 - 3 | string | length }} {{ 'a' ~ 'b' | upper }} {{ ('a' ~ 'b') | upper }} {{ n in l or n == 7 }} {{ not n in l }} {{ not n == 7 }} {{ 2 + 3 ~ 4 }} {{ 2 ~ 3 + 'x' }} {{ 1 - 2 - 3 }} {{ 2 * 3 % 4 }} {{ 10 // 3 * 3 }}
{{ d | tojson }} {{ l | tojson }} {{ messages | tojson }} {{ nil | tojson }} {{ t | tojson }} {{ f | tojson }} {{ big | tojson }} {{ 1e100 | tojson }} {{ (1, (2,)) | tojson }} {{ {1: 2, 1.5: 3, none: 4, true: 5} | tojson }} {{ 'é\u2028\x7f\x00"\\/<>&' | tojson }} {{ u | tojson(true) }} {{ '🐝' | tojson(ensure_ascii=true) }}
{{ d | tojson(indent=2) }} {{ [] | tojson(indent=2) }} {{ [[], {}, [1]] | tojson(indent=1) }} {{ d | tojson(sort_keys=true) }} {{ d | tojson(separators=(',', ':')) }} {{ [1, {'a': 2}] | tojson(indent=0) }} {{ [1, [2]] | tojson(indent='--') }} {{ [1, 2] | tojson(indent=2, separators=(';', '=')) }} {{ [1] | tojson(indent=true) }} {{ [1] | tojson(indent=-1) }}
{{ 'nan' | float | tojson }} {{ '-inf' | float | tojson }}
{{ range(3) | tojson }}
{{ d.items() | tojson }}
{{ namespace() | tojson }}
{{ {(1, 2): 3} | tojson }}
{{ {1: 2, 'a': 3} | tojson(sort_keys=true) }}
{{ [x] | tojson }}
{{ '{"a": [1, 2.0, "x\\u00e9\\n", null, true, {}], "b": -0.5e1}' | from_json }} {{ '[]' | from_json }} {{ ' 1 ' | from_json }} {{ '"\\ud83d\\udc1d"' | from_json }} {{ '{"a":1,"a":2}' | from_json }} {{ 'NaN' | from_json }} {{ '-Infinity' | from_json }} {{ '1E2' | from_json }}
{{ '{' | from_json }}
{{ '' | from_json }}
{{ '[1,]' | from_json }}
{{ '{a: 1}' | from_json }}
{{ '01' | from_json }}
{{ '1 2' | from_json }}
{{ '"\n"' | from_json }}
{{ 'nul' | from_json }}
{{ '"abc' | from_json }}
{{ '"\\x"' | from_json }}
{{ '1.' | from_json }}
{{ '-' | from_json }}
{{ 'a\nb\n\nc' | indent }}|{{ 'a\nb' | indent(2) }}|{{ 'a\nb' | indent(2, true) }}|{{ 'a\n\nb' | indent(width=3, blank=true) }}|{{ 'a\nb\n' | indent }}|{{ 'a\nb' | indent('> ') }}|{{ '' | indent }}|{{ '\n' | indent(1, true, true) }}|{{ 'a\r\nb' | indent(1) }}
{{ 1 | indent }}
{{ 'foo bar baz qux' | truncate(9) }} {{ 'foo bar baz qux' | truncate(9, true) }} {{ 'foo bar baz qux' | truncate(11) }} {{ 'foo bar baz qux' | truncate(11, false, '...', 0) }} {{ 'foobarbazqux' | truncate(5, leeway=0) }} {{ u | truncate(6, true, '…', 0) }}
{{ 'abc' | truncate(1, leeway=0) }}
{{ 'a b  c-d e_f é 1' | wordcount }} {{ '' | wordcount }} {{ ' a b ' | trim }}| {{ 'xax' | trim('x') }} {{ 5 | trim }} {{ '<a href="x">\'&' | e }} {{ '<' | escape }} {{ 5 | string | length }} {{ s | safe }} {{ 'a' | string }} {{ nothing | d('z') }} {{ '' | d('z', true) }} {{ none | default('z') }} {{ none | default('z', boolean=true) }} {{ nothing | default }}|
{{ 1 | nope }}
{% if false %}{{ 1 | nope }}{% endif %}ok
{{ s.nope }}|{{ l.nope }}|{{ s.__class__ }}|{{ l.__len__ }}|{{ d.__class__ }}|
{{ s.nope() }}
{{ s.__class__.__mro__ }}
{{ 1() }}
{{ s() }}
{{ d.a() }}
{% set l2 = [1] %}{{ l2.append(2) }}{{ l2 }}{{ l2.extend((3, 4)) }}{{ l2 }}{{ l2.insert(0, 9) }}{{ l2.insert(-1, 8) }}{{ l2.insert(99, 7) }}{{ l2 }}{{ l2.pop() }}{{ l2.pop(0) }}{{ l2.pop(-2) }}{{ l2 }}{{ l2.index(3) }}{{ l2.count(3) }}{{ l2.remove(3) }}{{ l2.reverse() }}{{ l2 }}{{ l2.copy() }}{{ l2.clear() }}{{ l2 }}
{{ [].pop() }}
{{ [1].pop(5) }}
{{ [1].index(2) }}
{{ [1].remove(2) }}
{{ (1, 2, 1).count(1) }}{{ (1, 2).index(2) }}
{{ (1, 2).append(3) }}
{% set e = {'a': 1} %}{{ e.update({'b': 2}) }}{{ e.update(c=3) }}{{ e.update([('d', 4)]) }}{{ e }}{{ e.pop('a') }}{{ e.pop('zz', 5) }}{{ e }}{{ e.setdefault('b', 9) }}{{ e.setdefault('z') }}{{ e }}{{ e.keys() }}{{ e.values() }}{{ e.items() }}{{ e.copy() == e }}{{ e.get('b') }}{{ e.get('q') }}{{ e.get('q', 1) }}{{ e.keys() | list }}{{ e.clear() }}{{ e }}
{{ {}.pop('a') }}
{{ {}.get() }}
{{ dict(a=1) }} {{ dict({'a': 1}, b=2) }} {{ dict([('a', 1), ['b', 2]]) }} {{ dict() }} {{ dict(**{'x': 1}) }}
{{ dict(1) }}
{{ dict([1]) }}
{% set ns = namespace(a=1, b=[]) %}{{ ns.a }}{{ ns['a'] }}{{ ns.zz }}|{% set ns.a = ns.a + 1 %}{{ ns.a }}{% set ns.c = 'x' %}{{ ns.c }}{{ ns }} {{ namespace({'q': 1}, r=2).q }}
{% set d.x = 1 %}
{% set nope.x = 1 %}
{% set ns = namespace() %}{% for i in range(3) %}{% set ns.x = (ns.x or 0) + i %}{% endfor %}{{ ns.x }}
{% set ns = namespace(n=0) %}{% for i in [1, 2, 3] if i > ns.n %}{% set ns.n = 2 %}{{ i }}{% endfor %}
{% for i in [1, 2] %}{{ loop.index }}{{ loop.index0 }}{{ loop.revindex }}{{ loop.revindex0 }}{{ loop.first }}{{ loop.last }}{{ loop.length }}{{ loop.depth }}{{ loop.depth0 }}{{ loop.previtem }}{{ loop.nextitem }} {% endfor %}
{% for i in [] %}x{% else %}e{% endfor %}{% for i in x %}x{% else %}e{% endfor %}{% for c in 'äb' %}[{{ c }}]{% endfor %}{% for k in d %}{{ k }}{% endfor %}
{% for i in 5 %}{% endfor %}
{% for i in none %}{% endfor %}
{% for a, b in [[1, 2], (3, 4), 'xy'] %}{{ a }}{{ b }}{% endfor %}{% for a, (b, c) in [[1, [2, 3]]] %}{{ a }}{{ b }}{{ c }}{% endfor %}
{% for a, b in [[1, 2, 3]] %}{% endfor %}
{% for a, b in [1] %}{% endfor %}
{% for i in range(10) if i is odd %}{{ i }}{{ loop.index }}{{ loop.last }}{{ loop.length }} {% endfor %}{% for i in l | map('string') %}{{ loop.length }}{{ loop.last }}{{ i }}{% endfor %}
{% for i in [1, 1, 2] %}{{ loop.changed(i) }}{% endfor %}{% for i in range(4) %}{{ loop.cycle('a', 'b', 'c') }}{% endfor %}{{ loop }}|
{% for i in [1] %}{{ loop.cycle() }}{% endfor %}
{% for i in [1, 2] %}{% for j in [3, 4] %}{{ loop.index }}{{ i }}{{ j }} {% endfor %}{{ loop.index }}{% endfor %}
{% for i in [1, 2] %}{% set outer = loop %}{% for j in [3, 4] %}{{ outer.index }}{{ loop.index }} {% endfor %}{% endfor %}
{% for i in range(5) %}{% if i == 1 %}{% continue %}{% endif %}{% if i == 3 %}{% break %}{% endif %}{{ i }}{% else %}e{% endfor %}
{% for i in [1] %}{% break %}{% else %}e{% endfor %}{% for i in [1] %}{% continue %}{% else %}e{% endfor %}
{% set a = 1 %}{% for i in [1, 2] %}{{ a }}{% set a = a + i %}{{ a }} {% endfor %}{{ a }}{% if true %}{% set a = 9 %}{% endif %}{{ a }}{% with a = 5, b = a %}{{ a }}{{ b }}{% set a = 6 %}{% endwith %}{{ a }}
{% with %}{% set q = 1 %}{{ q }}{% endwith %}{{ q }}|{% with a = 1 %}{% with b = 2 %}{{ a }}{{ b }}{% endwith %}{% endwith %}
{% set a, b = 1, 2 %}{{ a }}{{ b }}{% set (a, b) = [b, a] %}{{ a }}{{ b }}{% set c = 1, 2 %}{{ c }}{% set a, (b, c) = 1, (2, 3) %}{{ a }}{{ b }}{{ c }}
{% set a, b = 1 %}
{% set a %}x{{ n }}{% set inner = 1 %}{% endset %}[{{ a }}]{{ inner }}{% set a | upper | trim %} q {% endset %}[{{ a }}]
{% filter upper %}a{{ s }}{% set z = 1 %}{% endfilter %}{{ z }}{% filter replace('a', 'b') | upper %}banana{% endfilter %}
{% macro m(a, b=2, c=a) %}{{ a }}{{ b }}{{ c }}{% endmacro %}{{ m(1) }} {{ m(1, 3) }} {{ m(1, c=5) }} {{ m(b=1, a=2) }} {{ m() }} {{ m(*[1, 2], **{'c': 3}) }}
{% macro m(a) %}{% endmacro %}{{ m(1, 2) }}
{% macro m(a) %}{% endmacro %}{{ m(z=2) }}
{% macro m(a) %}{% endmacro %}{{ m(1, a=2) }}
{% macro m() %}{{ varargs }}{{ kwargs }}{% endmacro %}{{ m(1, 2, x=3) }}{{ m() }}
{% macro m(n) %}{{ n }}{% if n %}{{ m(n - 1) }}{% endif %}{% endmacro %}{{ m(3) }}{{ m(3) | length }}{{ m }}
{% macro m() %}{{ later }}{% endmacro %}{{ m() }}|{% set later = 1 %}{{ m() }}|{% set later = 2 %}{{ m() }}
{% macro a() %}A{{ b() }}{% endmacro %}{% macro b() %}B{% endmacro %}{{ a() }}
{% for i in [1, 2] %}{% macro m() %}{{ i }}{{ loop.index }}{% endmacro %}{{ m() }}{% endfor %}{{ m is defined }}
{% macro m() %}{% set loc = 1 %}{{ loc }}{{ s }}{% endmacro %}{{ m() }}{{ loc }}|{% macro t() %}[{{ caller('x') }}]{% endmacro %}{% call(v) t() %}{{ v }}{{ n }}{% endcall %}
{% macro t() %}[{{ caller() }}{{ caller is defined }}]{% endmacro %}{% call t() %}body{% endcall %}
{% macro t() %}{{ caller is defined }}{% endmacro %}{{ t() }}
{% macro t() %}x{% endmacro %}{% call t() %}body{% endcall %}
{% macro m() %}[{{ v }}]{% endmacro %}{% for v in [1] %}{{ m() }}{% endfor %}{% with v = 1 %}{{ m() }}{% endwith %}{% set v = 2 %}{{ m() }}
{% set q = 0 %}{% for i in [1, 2, 3] if i > q %}{% set q = 9 %}{{ loop.last }}{{ i }}{{ q }} {% endfor %}
{% set e = {} %}{% for i in range(20) %}{{ e.update({i: i * i}) or '' }}{% endfor %}{% for i in range(18) %}{{ e.pop(i) }} {% endfor %}{{ e.update({'n': 1, 3: 2}) }}{{ e }}{{ e.n }}{{ e[3] }}{{ e[19] }}{{ e.get(5) }}
{% macro m(x, y='d') %}{{ x is defined }}{{ y }}{% endmacro %}{{ m() }}{{ m(nothing) }}{{ m(none, none) }}
{% if n == 7 %}a{% elif n == 8 %}b{% else %}c{% endif %}{% if 0 %}a{% elif 1 %}b{% endif %}{% if 0 %}{% elif 0 %}{% else %}z{% endif %}{% if l %}L{% endif %}{% if l, %}T{% endif %}
{{ raise_exception('boom') }}
{{ strftime_now('%d %b %Y %H:%M:%S %A %B %j %p %I %y %e %% %F %T %D %R %U %W %w %u %V %G %C %a %h %-d %-m %-H %-I %k %l %n%t%c|%x|%X|%r|%Z|%z|é') }}
{% generation %}a{{ n }}{% set g = 1 %}{% endgeneration %}{{ g }}
{{ messages[0].content ~ messages[1]['content'] | trim }} {{ messages[-1].role }} {{ messages | length }} {{ messages[0] }} {{ messages[2].tool_calls[0] }}
{{ n if n else 'x' }} {{ 'a' if x is defined else 'b' if x else 'c' }} {{ [1 if true else 2, 3] }} {{ {'a': 1 if false else 2} }}
{{ [i for i in l] }}
{{ l[0 }}
{{ (1, 2 }}
{{ 1 + }}
{{ }}
{{ 'abc }}
{% if %}{% endif %}
{% if 1 %}
{% endif %}
{% for i in l %}
{% for in l %}{% endfor %}
{% set %}
{% set 1 = 2 %}
{% set true = 2 %}
{% nope %}
{% break %}
{% macro m( %}{% endmacro %}
{% macro m(a=1, b) %}{% endmacro %}
{# unclosed
{% raw %}x
{{ a b }}
{{ 1 is }}
{{ 1 | }}
{{ 1. }}
{{ .5 }}
{{ a.b. }}
{{ f(a=1, 2) }}
{{ f(*a, *b) }}
{{ n == }}
{{ $ }}
{{ 'a' is string is defined }}
{{ {1, 2} }}
{{ 1 if }}
{{ not }}
{{ a not b }}
{% else %}
{% call 1 %}{% endcall %}
{% filter %}{% endfilter %}
{% with a %}{% endwith %}
{{ "\N{BEE}" if false }}{{ 'x' if 1 }}
"""

WHITESPACE = [
    "a\n  {% if true %}\n  b\n  {% endif %}\nc\n", "a\n  {%- if true -%}\n  b\n  {%- endif -%}\nc\n",
    "  {{ n }}  \n  {{- n -}}  \n  {{ n }}\n\n", "a{# c #}\nb\n  {# c #}\nc {#- d -#} e\n",
    "  {%+ if true %}\nx\n  {%+ endif +%}\ny\n", "\n\n{% if true %}\n\nx\n\n{% endif %}\n\n", "x  {% set a = 1 %}  y",
    "{% for i in l %}\n  {{ i }}\n{% endfor %}\nend", "{% for i in l -%}\n  {{ i }}\n{%- endfor %}\nend",
    "a\r\nb\rc\n{% if 1 %}\r\nd{% endif %}\r\n", "{% raw %}{{ a }}{% endraw %}\nx", "a  {% raw %}  b  {% endraw %}  c",
    "a\n  {%- raw -%}  b \n {%- endraw -%}\n c", "  {% raw %}\n  {% if %}\n  {% endraw %}\n  x", "{% raw %}{% endraw %}", "\n", "", " ", "\n\n",
    "{{ 1 }}\n", "{{ 1 }}\n\n", "x\n   {# a\n b #}   \ny", "\t{% if 1 %}\tx\t{% endif %}\t\n\t{% if 1 %}\ny{% endif %}",
    "{{- 1 }} {{ 2 -}} {{+ 3 }} {{-4}} {{- -4 }}", "a {{ '{{' }} {{ '}}' }} {{ '%}' }} {% if '%}' %}x{% endif %} { { } } {a} {% if {'a': {'b': 1}}.a.b %}y{% endif %}",
    "{{ {'a': {'b': {}}}}}x", "\xa0{% if 1 %}x{% endif %}", "a\u2003{%- if 1 -%}\u2003b{% endif %}", "{#- x -#}", "a {#-#} b", "{%- if 1 %} x {% endif -%} \n\n y",
    "l1\n{% if 1 -%}\n\n  l2\n{% endif %}\nl3\n  {% if 1 %}l4{% endif %}\n", "{% set x = 1 -%}\n  {% set y = 2 %}\n  z", "{% if 1 +%}\nx{% endif %}", "a\n {%- if 1 +%}\n b {% endif %}",
    "{% macro m() -%}\n  x\n{%- endmacro %}\n[{{ m() }}]\n", "{% set b %}\n  x\n{% endset %}\n[{{ b }}]", "{% if 1 %}a{%- endif %}  \n  {%- if 1 %}b{% endif %}",
    "a\x0c  {% if 1 %}\nb{% endif %}", "{%if 1%}x{%endif%}{{1}}{%-if 1-%} y {%-endif-%}", "{# a #}{# b #}\n{# c #}\nx", "{% for i in [1,2] %}\n\n{{ i }}\n\n{% endfor %}",
]


class GenerationTag(Extension):
    tags = {"generation"}

    def parse(self, parser):
        lineno = next(parser.stream).lineno
        body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
        call = self.call_method("_run")
        return nodes.CallBlock(call, [], [], body).set_lineno(lineno)

    def _run(self, caller):
        return caller()


def make_environment():
    def raise_exception(message):
        raise jinja2.exceptions.TemplateError(message)

    def tojson(x, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
        return json.dumps(x, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)

    env = SandboxedEnvironment(trim_blocks=True, lstrip_blocks=True, extensions=[GenerationTag, "jinja2.ext.loopcontrols"])
    env.filters["tojson"] = tojson
    env.filters["from_json"] = json.loads
    env.globals["raise_exception"] = raise_exception
    env.globals["strftime_now"] = NOW.strftime
    return env


class Expressions:
    """Random expressions that often make sense."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def pick(self, *choices):
        choice = self.random.choice(choices)
        return choice() if callable(choice) else choice

    def atom(self):
        return self.pick("n", "neg", "f", "zero", "t", "no", "nil", "s", "u", "empty", "l", "words", "nested", "d", "rows",
                         "x", "messages", "0", "1", "2", "-1", "3", "10", "1.5", "0.0", "''", "'a'", "'b c'", "'Äß'", "'l'", "' x\\n'", "'12'", "none",
                         "true", "false", "[]", "{}", "()", "[1, 2, 3]", "['a', 'B', 'a']", "{'a': 1}", "(1, 'a')", "range(4)",
                         "messages[0]", "messages[1].content", "d.k", "rows[0].name", "nested[0]")

    def bound(self):
        return self.pick("", "0", "1", "-1", "neg", "n", "nil", "true", "-2", "99")

    def text(self, depth):
        return self.pick("s", "u", "'a,b,c'", "' x y '", "'Hello'", "messages[3].content", lambda: "(" + self.expr(depth - 1) + " ~ '')",
                         lambda: "(" + self.expr(depth - 1) + ") | string")

    def sequence(self, depth):
        return self.pick("l", "words", "nested", "[1, 2, 3]", "range(5)", "'abc'", "messages", "rows", "d", lambda: "[" + self.expr(depth - 1) + ", " + self.expr(depth - 1) + "]")

    def filtered(self, depth):
        text = "(" + self.text(depth) + ")"
        seq = "(" + self.sequence(depth) + ")"
        any_value = "(" + self.expr(depth - 1) + ")"
        e = lambda: self.expr(depth - 1)
        return self.pick(
            lambda: text + " | " + self.pick("upper", "lower", "title", "capitalize", "trim", "length", "first", "last", "list", "reverse", "e", "wordcount",
                                             "replace('l', 'L')", "replace('', '-')", "indent(2)", "truncate(5)", "int", "float", "string", "tojson", "safe"),
            lambda: seq + " | " + self.pick("length", "first", "last", "list", "join(',')", "sort", "reverse | list", "unique | list", "min", "max", "sum",
                                            "map('string') | list", "map('upper') | join('/')", "select | list", "reject('none') | list", "batch(2) | list",
                                            "select('string') | list", "tojson", "string", "map('length') | list"),
            lambda: any_value + " | " + self.pick("default('d')", "default('d', true)", "string", "tojson", "length", "list", "int", "float", "abs", "round", "trim",
                                                  "int(3)", "upper", "join", "first", "sort", "string | length", "tojson(indent=1)", "items | list", "dictsort", "sum", "unique | list"),
            lambda: any_value + " | default(" + e() + ")", lambda: seq + " | join(" + e() + ")", lambda: text + " | replace('a', (" + e() + ") | string)")

    def method(self, depth):
        text = "(" + self.text(depth) + ")"
        e = lambda: self.expr(depth - 1)
        return self.pick(
            lambda: text + self.pick(".strip()", ".lstrip()", ".rstrip()", ".upper()", ".lower()", ".title()", ".capitalize()", ".split()", ".split(',')", ".split(' ', 1)",
                                     ".rsplit(' ', 1)", ".splitlines()", ".startswith('H')", ".endswith('o')", ".find('l')", ".count('l')", ".replace('l', '')", ".isdigit()",
                                     ".isalpha()", ".islower()", ".strip('x ')", ".partition(' ')", ".format(1)", "[1:]", "[::-1]", "[0]", "[-2:]", "[:3]", "[1:4:2]"),
            lambda: text + ".split(" + e() + ")", lambda: "(" + e() + ")[" + e() + "]", lambda: "(" + self.sequence(depth) + ")[" + self.bound() + ":" + self.bound() + "]", lambda: "d.get(" + e() + ")",
            lambda: "(" + self.sequence(depth) + ")[" + self.pick("0", "-1", "1:", ":2", "::-1", "5", "::2") + "]", lambda: "','.join(" + e() + ")",
            lambda: "d." + self.pick("keys() | list", "values() | list", "items() | list", "get('a')", "get('zz', 1)", "zz", "a"))

    def expr(self, depth):
        if depth <= 0:
            return self.atom()
        e = lambda: self.expr(depth - 1)
        return self.pick(
            self.atom, lambda: e() + self.pick(" + ", " - ", " * ", " / ", " // ", " % ", " ~ ", " ~ ") + e(),
            lambda: "(" + e() + ")" + self.pick(" + ", " - ", " * ", " ~ ") + "(" + e() + ")",
            lambda: e() + self.pick(" == ", " != ", " < ", " <= ", " > ", " >= ", " in ", " not in ") + e(),
            lambda: e() + self.pick(" and ", " or ") + e(), lambda: "(not " + e() + ")", lambda: "-" + self.atom(), lambda: "(" + e() + " if " + e() + " else " + e() + ")",
            lambda: "[" + e() + ", " + e() + "]", lambda: "{'k': " + e() + "}", lambda: "(" + e() + ", " + e() + ")",
            lambda: "((" + e() + ") is " + self.pick("defined", "none", "string", "number", "mapping", "iterable", "sequence", "true", "false", "boolean", "integer", "float", "odd", "even",
                                                    "not none", "not defined", "lower", "in l", "eq 1", "undefined") + ")",
            lambda: self.filtered(depth), lambda: self.filtered(depth), lambda: self.method(depth), lambda: self.method(depth))

    def template(self):
        kind = self.random.random()
        if kind < 0.8:
            return "{{ " + self.expr(self.random.randint(1, 3)) + " }}"
        if kind < 0.9:
            return "{% for v in " + self.expr(2) + " %}{{ v }}{{ loop.index }}{{ loop.last }};{% else %}-{% endfor %}"
        return "{% set v = " + self.expr(2) + " %}{% if " + self.expr(2) + " %}{{ v }}{% else %}{{ v | tojson }}{% endif %}"


class Statements:
    """Random nests of statements with white space and its control all over.

    The names that are set are none of VARS: where a block reads a variable that a scope around it
    sets only later, Jinja2 finds neither, and Kvasir the variable.
    """

    NAMES = ["a", "b", "c", "v", "w"]

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.expressions = Expressions(seed + 1)

    def pick(self, *choices):
        choice = self.random.choice(choices)
        return choice() if callable(choice) else choice

    def name(self):
        return self.random.choice(self.NAMES)

    def space(self):
        return self.pick("", "", " ", "\n", "  ", "\n  ", "x", " y ", "\n\n", "z\n", "\t", " \n ")

    def tag(self, inside):
        left, right = self.pick("", "", "", "-", "+"), self.pick("", "", "", "-", "+")
        return "{%" + left + " " + inside + " " + right + "%}"

    def value(self):
        return self.pick(self.name, self.name, "n", "l", "1", "'s'", "[1, 2]", "ns.q", "loop.index", "[a, b]", "m(1)", "x", lambda: "(" + self.expressions.expr(1) + ")")

    def body(self, depth, loops):
        return "".join(self.space() + self.statement(depth - 1, loops) + self.space() for _ in range(self.random.randint(1, 3)))

    def printed(self):
        left, right = self.pick("", "", "-"), self.pick("", "", "-")
        return "{{" + left + " " + self.value() + " " + right + "}}"

    def loop(self, depth):
        target = self.pick(self.name, self.name, "a, b")
        source = self.pick("[1, 2, 3]", "range(2)", "l", "'ab'", "[]", "[(1, 2), [3, 4]]", "d.items()", self.name)
        condition = self.pick("", "", "", " if " + self.value())
        return (self.tag("for " + target + " in " + source + condition) + self.body(depth, True) + self.pick("", lambda: self.tag("else") + self.body(depth, False))
                + self.tag("endfor"))

    def condition(self, depth, loops):
        return (self.tag("if " + self.value()) + self.body(depth, loops) + self.pick("", lambda: self.tag("elif " + self.value()) + self.body(depth, loops))
                + self.pick("", lambda: self.tag("else") + self.body(depth, loops)) + self.tag("endif"))

    def statement(self, depth, loops):
        if depth <= 0:
            return self.pick(self.printed, self.printed, lambda: self.tag("set " + self.name() + " = " + self.value()), "{# c #}", "{#- c\n -#}")
        return self.pick(
            self.printed, lambda: self.tag("set " + self.name() + " = " + self.value()), lambda: self.tag("set ns.q = " + self.value()),
            lambda: self.tag("set a, b = [" + self.value() + ", " + self.value() + "]"), lambda: self.loop(depth), lambda: self.loop(depth), lambda: self.condition(depth, loops),
            lambda: self.tag("set " + self.name()) + self.body(depth, False) + self.tag("endset"),
            lambda: self.tag("filter " + self.pick("upper", "trim", "replace('x', 'yy') | title")) + self.body(depth, False) + self.tag("endfilter"),
            lambda: self.tag("with " + self.name() + " = " + self.value()) + self.body(depth, loops) + self.tag("endwith"),
            lambda: self.tag("macro " + self.pick("m", "k") + "(" + self.pick("", "a", "a, b=2", "c=n") + ")") + self.body(depth, False) + self.tag("endmacro"),
            lambda: self.tag("generation") + self.body(depth, False) + self.tag("endgeneration"),
            lambda: self.tag("raw") + self.space() + "{{ raw }}" + self.space() + self.tag("endraw"),
            lambda: self.tag(self.pick("break", "continue")) if loops else self.printed(), lambda: "{{ " + self.pick("m()", "m(1)", "m(2, b=3)", "k(a)", "caller()") + " }}",
            lambda: self.tag("call(a) " + self.pick("m()", "k(1)")) + self.body(depth, False) + self.tag("endcall"))

    def template(self):
        head = "{% set ns = namespace(q=0) %}{% macro m(a) %}[{{ a }}{{ n }}]{% endmacro %}{% macro k(a) %}<{{ caller(a) }}>{% endmacro %}"
        return head + self.body(self.random.randint(1, 4), False)


HOST_OBJECT = re.compile(r"Markup\(|<generator|object at 0x|<function \S+ at |<built-in|built-in method|<bound|reverseiterator|<jinja2|<class|<LoopContext|_iterator")
BIG = 2**63


def is_left_out(text):
    """Results that Kvasir does not reproduce on purpose."""
    if HOST_OBJECT.search(text):
        return True
    return any(abs(int(m)) >= BIG for m in re.findall(r"(?<![\d.])-?\d{19,4000}(?![\d.e])", text))


def render(env, source):
    try:
        return env.from_string(source).render(**json.loads(json.dumps(VARS)))
    except Exception:  # any failure is a vector too
        return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--random", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    env = make_environment()
    expressions = Expressions(args.seed)
    sources = [line for line in HAND.strip("\n").split("\n")] + WHITESPACE
    sources += [expressions.template() for _ in range(args.random)]
    statements = Statements(args.seed)
    sources += [statements.template() for _ in range(args.random // 2)]
    print(json.dumps({"vars": VARS}, ensure_ascii=False))
    for source in sources:
        text = render(env, source)
        if text is None or (len(text) < 4000 and not is_left_out(text)):
            print(json.dumps({"template": source, "expected": text}, ensure_ascii=False))


if __name__ == "__main__":
    sys.exit(main())
