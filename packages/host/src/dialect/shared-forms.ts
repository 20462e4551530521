import type { Entry } from '../kernel/log/entry.ts'
import type { LoweredParts } from './lowered.ts'

/**
 * A cache of values made from log entries. The inner key, the form, says for which clients the value is: those of a
 * protocol version, or those of a version that also use the same names. These clients share the value.
 */
type SharedForms<T> = WeakMap<Entry, Map<string, T>>

export const framesOf: SharedForms<readonly Uint8Array[]> = new WeakMap()
export const loweredOf: SharedForms<LoweredParts> = new WeakMap()

export function shared<T>(cache: SharedForms<T>, entry: Entry, form: string, make: () => T): T {
  const forms = cache.get(entry) ?? new Map<string, T>()
  cache.set(entry, forms)
  const known = forms.get(form)
  if (known !== undefined) return known
  const made = make()
  forms.set(form, made)
  return made
}
