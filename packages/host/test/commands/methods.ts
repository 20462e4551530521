import { parts } from '../../src/parts.ts'

/** The commands of AHP that a host runs on an open connection. */
export const methods: readonly string[] = parts.flatMap(({ rules }) => Object.keys(rules.methods ?? {}))
