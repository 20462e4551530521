import type { Uri } from '@atrium/protocol/channel'
import type { CustomizationEnablement } from '@atrium/protocol/session/customization'
import { RecordMap } from '../../kernel/record-map.ts'
import type { RecordFormat } from '../../kernel/record-map.ts'
import type { Records } from '../../ports/records.ts'

type Decisions = readonly CustomizationEnablement[]

/**
 * The decisions of users whether customizations are enabled: for one folder, or for all sessions. They are durable. The
 * decision for a single session is in the state of that session.
 */
export class Enablements {
  readonly #decisions: RecordMap<boolean>

  private constructor(decisions: RecordMap<boolean>) {
    this.#decisions = decisions
  }

  static async open(records: Records): Promise<Enablements> {
    return new Enablements(await RecordMap.open(records, 'enablement/', flagFormat))
  }

  /** The decisions about a customization in a session that works in this folder, the most specific first. */
  of(id: string, folder: Uri | undefined, session: CustomizationEnablement | undefined): Decisions {
    const workspace = folder === undefined ? undefined : this.#decisions.get(keyOf(id, folder))
    const global = this.#decisions.get(keyOf(id))
    return [
      ...(session ? [session] : []),
      ...(folder === undefined || workspace === undefined
        ? []
        : [{ kind: 'workspace', uri: folder, enabled: workspace } as const]),
      ...(global === undefined ? [] : [{ kind: 'global', enabled: global } as const]),
    ]
  }

  /**
   * Stores the decisions for the folder and for all sessions. The list is complete: a scope that is not in the list is
   * undecided.
   */
  decide(id: string, folder: Uri | undefined, decisions: Decisions): void {
    const decided = (kind: string) => decisions.find((each) => each.kind === kind)?.enabled
    if (folder !== undefined) this.#set(keyOf(id, folder), decided('workspace'))
    this.#set(keyOf(id), decided('global'))
  }

  #set(key: string, enabled: boolean | undefined): void {
    if (enabled === undefined) this.#decisions.delete(key)
    else if (this.#decisions.get(key) !== enabled) this.#decisions.set(key, enabled)
  }
}

/** Whether a customization is enabled: the first decision counts. Without a decision it is enabled. */
export function isEnabled(decisions: Decisions = []): boolean {
  return decisions[0]?.enabled ?? true
}

/** The decision for the session alone. */
export function sessionDecision(decisions: Decisions = []): CustomizationEnablement | undefined {
  return decisions.find(({ kind }) => kind === 'session')
}

const flagFormat: RecordFormat<boolean> = {
  read: (text) => text === 'on',
  write: (enabled) => (enabled ? 'on' : 'off'),
}

function keyOf(id: string, folder?: Uri): string {
  return JSON.stringify(folder === undefined ? [id] : [id, folder])
}
