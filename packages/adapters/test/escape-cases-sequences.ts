import { query, between, removed, kept } from './escape-case.ts'
import type { EscapeCase } from './escape-case.ts'

const csi = (words: string) => between('\x1b[', words)
const esc = (words: string) => between('\x1b', words)

/** Cases of text, control characters, ESC sequences and CSI sequences. */
export const sequences: readonly EscapeCase[] = [
  ...kept('plain', [
    'hello, world',
    'grüße, 世界, 👩‍👩‍👧 é',
    'tab\tand\r\nline',
    '\u202eright to left',
    '\u00a0\u00ad',
  ]),
  ...kept('C0', [
    'a\x00b',
    '\x01\x02\x03\x04',
    'bell\x07',
    'back\x08',
    '\x0b\x0c',
    '\x0e\x0f',
    '\x10\x11\x13',
  ]),
  ...kept('C0', ['\x18', '\x1a', '\x7f']),
  { name: 'ENQ', in: 'a\x05b', out: 'ab' },

  ...kept('ESC', esc('7 8 = > D E H M N O c n o | } ~ 6 9 (0 (B )A *B +B -A .A /A (%5 #3 #4 #5 #6 #8')),
  ...removed('ESC', esc('l m ␠F ␠G ␠L %@ %G \\ #9 (%%5 k 0 1 F V W')),
  query('DECID', '\x1bZ', '\x1b[c'),

  ...kept('CSI', csi('5@ 3A B 2C 4D E F 7G 3;4H 2I 2J 3J K 1K 2L 2M 3P 2S 3T 4X 2Z 3` 2a 10b 4d 2e 3;4f')),
  ...kept('CSI', csi('0g 3g 4h 20l 2;20r s u 3;20s')),
  ...kept('SGR', csi('m 0m 1;31m 38;5;208m 38;2;1;2;3m 48:2::1:2:3m 4:3m 58;5;1m 22;24;27m')),
  ...kept(
    'modes',
    csi('?25h ?25l ?1049h ?1049l ?2004h ?1000h ?1002;1006h ?1004h ?7l ?6h ?2026h ?1s ?1r ?9001h'),
  ),
  ...kept('CSI', csi('?J ?1K >4;1m >4n >1u =1;2u <u <2u 2␠q ␠q 3␠@ 2␠A !p 1"q #{ #} #p #q')),
  ...kept(
    'CSI',
    csi(`2'} 3'~ 2*x 1;1;2;2;1$r 1;1;2;2$t 1;1;2;2;1;3;3;1$v 65;1;1;2;2$x 1;1;2;2$z 1;1;2;2\${`),
  ),
  ...removed('printing', csi('i 5i 4i ?4i ?5i')),
  ...removed('windows', csi('8;24;80t 3;0;0t 2t 1t 9;1t 22;0t 23;0t 20t 21t >2t >2T 80$| 24*|')),
  ...removed(
    'CSI',
    csi(`1;2;3;4;5T 1q 1$} 1$~ 61"p 1␠t 1␠u 1#y 1'z 1'{ ?6c ?5W >1p >1s 12y 1+q %^ 1] 1^ 1_`),
  ),
  ...removed('malformed', csi('1;2?h ?1?h 1␠2q')),
  ...removed('large', csi('99999999999b 1000000@ 1;100000H')),
  ...removed('reporting modes', csi('?2031h ?2048h ?2031;2048h ?2031l')),
  { name: 'of several modes, the reporting one is removed', in: '\x1b[?1;2031;7h', out: '\x1b[?1;7h' },
  ...[
    ...csi('c 0c >c >0c =c 5n 6n ?6n ?15n ?25n ?26n ?53n ?55n ?62n ?63;1n ?75n ?85n ?996n x 1x 4$p ?2026$p'),
    ...csi(`>q >0q ?u ?4m ?1g ?1;1;0S 1;1;1;1;2;2*y 1$w 2$u 1"v #R #| 1'| &u`),
    ...csi('11t 13t 13;2t 14t 14;2t 15t 16t 18t 19t'),
  ].map((text) => query(`query ${JSON.stringify(text)}`, text)),

  { name: 'CSI with a line feed inside', in: '\x1b[3\n1m', out: '\n\x1b[31m' },
  { name: 'CSI with ENQ inside', in: '\x1b[3\x051m', out: '\x1b[31m' },
  { name: 'CSI with DEL inside', in: '\x1b[3\x7f1m', out: '\x1b[31m' },
  { name: 'CSI cancelled', in: '\x1b[3\x181m', out: '1m' },
  { name: 'CSI substituted', in: '\x1b[3\x1a1m', out: '1m' },
  { name: 'CSI cancelled by ESC', in: '\x1b[3\x1b[1mx', out: '\x1b[1mx' },
  { name: 'CSI cancelled by a non-ASCII character', in: '\x1b[3é1m', out: 'é1m' },
  { name: 'CSI cancelled by a C1', in: '\x1b[3\u009b1m', out: '\x1b[1m' },
  { name: 'ESC ESC', in: '\x1b\x1b[1m', out: '\x1b[1m' },
  { name: 'ESC and a control', in: '\x1b\r[1m', out: '\r\x1b[1m' },
  { name: 'ESC cancelled', in: '\x1b\x18[1m', out: '[1m' },
  { name: 'ESC and a non-ASCII character', in: '\x1bé', out: 'é' },
  { name: 'ESC at the end', in: 'x\x1b', out: 'x' },
  { name: 'CSI at the end', in: 'x\x1b[12;', out: 'x' },

  { name: 'C1 CSI', in: '\u009b31mred', out: '\x1b[31mred' },
  { name: 'C1 IND NEL HTS', in: '\u0084\u0085\u0088', out: '\x1bD\x1bE\x1bH' },
  { name: 'C1 RI SS2 SS3', in: '\u008d\u008e\u008f', out: '\x1bM\x1bN\x1bO' },
  { name: 'C1 others', in: 'a\u0080\u0081\u0086\u0087\u0091\u0096\u0099\u009cb', out: 'ab' },
  query('C1 DA', '\u009bc', '\x1b[c'),
  query('C1 DECID', '\u009a', '\x1b[c'),
]
