import { part } from '../kernel/part.ts'
import { rootGuards } from './root.ts'

/** The root channel. */
export const root = part({ name: 'root', rules: { guards: [rootGuards] } })
