import type { Escape } from './escape-case.ts'
import { marks } from './escape-cases-marks.ts'
import { sequences } from './escape-cases-sequences.ts'
import { strings } from './escape-cases-strings.ts'

/** After xterm's list of control sequences, and what other terminals have added to it. */
export const escapes: readonly Escape[] = [...sequences, ...strings, ...marks]
