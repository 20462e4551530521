import { part } from '../kernel/part.ts'
import { annotationsGuards } from './guards.ts'

/** Comments on files. */
export const annotations = part({
  name: 'annotations',
  rules: { guards: [annotationsGuards] },
})
