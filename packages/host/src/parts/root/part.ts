import { rootOf } from '../../channels/derived.ts'
import { part } from '../../kernel/part.ts'
import type { RootState } from '@atrium/protocol/root/state'
import { derivedRoot, rootGuards } from './root.ts'

/** The root channel. */
export const root = part({
  name: 'root',
  key: rootOf,
  open: (core) => ({ derived: (state: RootState) => derivedRoot(core, state) }),
  rules: { guards: [rootGuards] },
})
