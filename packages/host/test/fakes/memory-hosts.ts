import type { OtherHosts, Sighting } from '../../src/ports/other-hosts.ts'

/** Hosts that see each other in memory. Each call of the returned function starts one. */
export function memoryHosts(): () => OtherHosts {
  const notes: { readonly host: string; readonly directory: string; readonly active: number }[] = []
  const isIn = (path: string, folder: string) => path === folder || path.startsWith(`${folder}/`)
  let started = 0
  return () => {
    const host = `host-${++started}`
    return {
      note: (directory, active) => void notes.push({ host, directory, active }),
      look(directory) {
        const near = notes.flatMap((note, number) => {
          const meets = isIn(note.directory, directory) || isIn(directory, note.directory)
          return meets && note.host !== host ? [{ ...note, number }] : []
        })
        const isLast = ({ number, ...note }: (typeof near)[number]) =>
          !near.some(
            (each) => each.number > number && each.host === note.host && each.directory === note.directory,
          )
        const seen: Sighting = {
          active: near.some((note) => isLast(note) && note.active > 0),
          notes: new Map(near.map((note) => [note.host, note.number])),
        }
        return seen
      },
    }
  }
}
