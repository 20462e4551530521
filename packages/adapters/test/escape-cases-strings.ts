import { between, removed, kept } from './escape-case.ts'
import type { EscapeCase } from './escape-case.ts'

const osc = (words: string, end = '\x07') => between('\x1b]', words, end)
const titled = (name: string, text: string, ...titles: readonly string[]): EscapeCase => ({
  name: `title ${name}`,
  in: `${text}x`,
  out: 'x',
  also: titles.map((title) => ({ title })),
})

/** Cases of string sequences: titles, links, colours, and strings that are removed. */
export const strings: readonly EscapeCase[] = [
  ...['\x07', '\x1b\\', '\u009c'].flatMap((end) => [
    titled(`and icon, ended by ${JSON.stringify(end)}`, `\x1b]0;one${end}`, 'one'),
    titled(`of an icon, ended by ${JSON.stringify(end)}`, `\x1b]1;two${end}`, 'two'),
    titled(`alone, ended by ${JSON.stringify(end)}`, `\x1b]2;three; four${end}`, 'three; four'),
    ...removed('clipboard', osc('52;c;aGVsbG8= 52;c;? 52;; 52', end)),
  ]),
  titled('that is empty', '\x1b]2;\x07', ''),
  titled('without text', '\x1b]2\x07', ''),
  titled('with controls', '\x1b]2;a\x01\n\tb\x07', 'ab'),
  titled('with bidi', '\x1b]2;a\u202eb\u2066c\u200f\u061c\x07', 'abc'),
  titled('in unicode', '\x1b]2;世界 👩‍👩‍👧\x07', '世界 👩‍👩‍👧'),
  titled('by C1', '\u009d0;title\u009c', 'title'),
  titled('cancelled', '\x1b]2;evil\x18'),
  titled('substituted', '\x1b]2;evil\x1a'),
  titled('within a title', '\x1b]0;a\x1b]0;b\x07', 'b'),
  titled('with ESC before its end', '\x1b]0;a\x1b\x1b\\'),
  titled('and another', '\x1b]2;a\x07\x1b]2;b\x07', 'a', 'b'),
  { name: 'title cancelled by a CSI', in: '\x1b]2;evil\x1b[31mx', out: '\x1b[31mx' },
  { name: 'title cancelled by a C1', in: '\x1b]2;evil\u009b31mx', out: '\x1b[31mx' },
  { name: 'title at the end', in: 'x\x1b]0;tit', out: 'x' },

  ...['http://a.b/c?d=e;f', 'https://a.b', 'HTTPS://A.B', 'mailto:a@b.c'].flatMap(
    (uri): readonly EscapeCase[] => [
      { name: `link to ${uri}`, in: `\x1b]8;;${uri}\x1b\\text\x1b]8;;\x1b\\` },
      { name: `link with an id, to ${uri}`, in: `\x1b]8;id=1;${uri}\x07`, out: `\x1b]8;id=1;${uri}\x1b\\` },
    ],
  ),
  ...between(
    '',
    'file:///etc/passwd javascript:alert(1) vscode://x data:text/html,x ssh://a ␠https://a https x http://\u202ea',
  ).map((uri): EscapeCase => ({
    name: `link to ${uri}`,
    in: `\x1b]8;;${uri}\x07text`,
    out: '\x1b]8;;\x1b\\text',
  })),
  ...removed('OSC 8', osc('8 8;x')),

  ...kept(
    'colours',
    osc('4;1;#ff0000 4;1;rgb:ff/00/00;2;red 104 104;1;2 10;#fff 11;rgb:0/0/0 12;red', '\x1b\\'),
  ),
  ...kept('colours', osc('17;blue 19;blue 110 111 112 117 119', '\x1b\\')),
  ...removed('colours', osc('4;1;? 4;1;red;2;? 10;? 11;? 12;? 17;? 19;? 10;?;? 10;\u00e9 4 4; 10 13')),

  ...removed(
    'OSC',
    osc('3;x=y 5;0;? 6;1;1 9;hello 9;4;1;50 22;pointer 46;/tmp/log 50;? 51;x 60 61 99;;hi 105 176;x'),
  ),
  ...removed('OSC', osc('440;x 666;x 777;notify;a;b 9999;x 12345;x l;x Lx Ix ; x -1;x 0x1;a 1␠0;a')),
  ...removed(
    'OSC 1337',
    osc('1337;File=name=x:AAAA 1337;SetUserVar=a=b 1337;ClearScrollback 1337;StealFocus 1337'),
  ),
  ...removed('OSC 1337', osc('1337;CopyToClipboard=x 1337;CurrentDir=x 1337;RequestUpload=x')),
  ...removed(
    'DCS',
    between('\x1bP', '$qm $q"p +q544e +p544e q#0;2;0;0;0~ 1$r0m |17/61 >|xterm tmux;\x07x 1000p', '\x1b\\'),
  ),
  ...removed('APC, PM, SOS', between('\x1b', '_Gf=24;AAAA _x\x07y ^privacy Xstart', '\x1b\\')),
  ...removed('DCS, SOS, PM, APC by C1', between('', '\u0090q \u0098s \u009ep \u009fa', '\u009c')),
  { name: 'DCS cancelled by a CSI', in: '\x1bPq#0\x1b[31mx', out: '\x1b[31mx' },
  { name: 'APC cancelled', in: '\x1b_Gx\x18y', out: 'y' },
]
