import type { Step } from '../step.ts'
import { basics } from './basics.ts'
import { changes } from './changes.ts'
import { folders } from './folders.ts'
import { forms } from './forms.ts'
import { input } from './input.ts'
import { list } from './list.ts'
import { restarts } from './restarts.ts'
import { shared } from './shared.ts'
import { starved } from './starved.ts'
import { tools } from './tools.ts'
import { turns } from './turns.ts'

/** All steps, in the order in which they run. Each makes the sessions that it needs. */
export const steps: readonly Step[] = [
  ...basics,
  ...turns,
  ...list,
  ...shared,
  ...forms,
  ...input,
  ...changes,
  ...folders,
  ...restarts,
  ...tools,
  ...starved,
]
