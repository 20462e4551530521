import { patched } from './patch.ts'
import type { Patch } from './patch.ts'

// Module hooks of Node. They run in their own thread, and can change the text of every module before it runs.

let patches: readonly Patch[] = []

export function initialize(given: readonly Patch[]): void {
  patches = given
}

interface Loaded {
  readonly source?: string | ArrayBuffer | NodeJS.TypedArray | null
}

type Load<C> = (url: string, context: C) => Promise<Loaded>

export async function load<C>(url: string, context: C, next: Load<C>): Promise<Loaded> {
  const loaded = await next(url, context)
  const { source } = loaded
  if (!source || !patches.some(({ file }) => url.endsWith(`/${file}`))) return loaded
  const text = typeof source === 'string' ? source : new TextDecoder().decode(source)
  return { ...loaded, source: patched(url, text, patches) }
}
