import type { EscapeCase } from './escape-case.ts'
import { marks } from './escape-cases-marks.ts'
import { sequences } from './escape-cases-sequences.ts'
import { strings } from './escape-cases-strings.ts'

/** All cases. They follow xterm's list of control sequences and the extensions of other terminals. */
export const escapeCases: readonly EscapeCase[] = [...sequences, ...strings, ...marks]
