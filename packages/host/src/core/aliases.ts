import type { Aliases } from '../aliases/aliases.ts'
import { defineKey } from '../kernel/key.ts'

export const aliasesOf = defineKey<Aliases>('aliases')
