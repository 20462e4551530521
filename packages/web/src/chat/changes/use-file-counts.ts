import type { Client } from '@atrium/client/client'
import { useEffect, useState } from 'preact/hooks'

/** The number of files of each of these changesets, by URI. A changeset that is still computed is not in it. */
export function useFileCounts(client: Client, uris: readonly string[]): ReadonlyMap<string, number> {
  const [counts, setCounts] = useState<ReadonlyMap<string, number>>(new Map())
  const all = uris.join('\n')
  useEffect(() => {
    if (all === '') return
    const handles = all.split('\n').map((uri) => ({ uri, handle: client.subscribe('changeset', uri) }))
    const draw = () => {
      const found = handles.flatMap(({ uri, handle: { state } }) =>
        state && state.status !== 'computing' ? [[uri, state.files.length] as const] : [],
      )
      setCounts((now) => (isSame(now, found) ? now : new Map(found)))
    }
    const unlisten = handles.map(({ handle }) => handle.onChange(draw))
    draw()
    return () => {
      for (const each of unlisten) each()
      for (const { handle } of handles) handle.release()
    }
  }, [client, all])
  return counts
}

function isSame(now: ReadonlyMap<string, number>, found: readonly (readonly [string, number])[]): boolean {
  return now.size === found.length && found.every(([uri, count]) => now.get(uri) === count)
}
