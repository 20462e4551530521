/** The member of a value that may be of any shape. Metadata comes from hosts and agents, which write what they like. */
export function member(value: unknown, key: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined
  // The check before makes the cast safe.
  return (value as { readonly [key: string]: unknown })[key]
}

export function textMember(value: unknown, key: string): string | undefined {
  const found = member(value, key)
  return typeof found === 'string' ? found : undefined
}

/** Returns a member of the data that an Atrium host adds to the `_meta` of an object. */
export function ownMember(holder: unknown, key: string): unknown {
  return member(member(member(holder, '_meta'), 'x-atrium'), key)
}
