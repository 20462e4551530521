/**
 * The other hosts that work in the same folders. Hosts leave marks for each other in places that all of them find. Both methods are
 * synchronous, because an agent waits for them. They never throw: if marks cannot be read or written, there is no other host. Every
 * adapter passes the suite in `other-hosts.contract.ts`.
 */
export interface OtherHosts {
  /**
   * Notes the number of turns and operations of this host that are active in a folder from now on.
   */
  note(directory: string, active: number): void
  /** Returns what other hosts have noted about a folder, about folders in it, and about folders that contain it. */
  look(directory: string): Sighting
}

export interface Sighting {
  /** Whether a turn of another host is active now. */
  readonly active: boolean
  /** The number of the last note of each other host. Each note has a higher number. */
  readonly notes: ReadonlyMap<string, number>
}

/** Whether another host was active at some time between two looks at a folder. */
export function wereActive(before: Sighting, after: Sighting): boolean {
  // The mark of a host that has ended long ago is removed. A host that is missing has done nothing new.
  const isNew = [...after.notes].some(([host, number]) => before.notes.get(host) !== number)
  return before.active || after.active || isNew
}
