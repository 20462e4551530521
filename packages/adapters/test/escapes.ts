import type { Escape } from './escape.ts'
import { marks } from './escapes-marks.ts'
import { sequences } from './escapes-sequences.ts'
import { strings } from './escapes-strings.ts'

/** After xterm's list of control sequences, and what other terminals have added to it. */
export const escapes: readonly Escape[] = [...sequences, ...strings, ...marks]
