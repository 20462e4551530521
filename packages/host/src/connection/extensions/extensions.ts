import type { Schema } from '@atrium/protocol/schema'
import { CommitParams, ReviewHunksParams } from '../../core/changes/extensions.ts'
import type { Core } from '../../core/core.ts'
import type { Generation } from '../../dialect/generation.ts'
import { DeferredResponse } from '../deferred-response.ts'

/** A command that AHP does not have. */
export interface Extension {
  readonly params: Schema<unknown>
  /** Whether this host has the command. */
  readonly isOffered: (core: Core) => boolean
  /** Runs the command. The schema has checked the params. */
  readonly run: (core: Core, params: unknown) => unknown
}

/**
 * The commands of this host that AHP does not have. They are not in the schemas of AHP, and clients of older versions do not
 * get them. The result of `initialize` names those that the host offers.
 */
const extensions: ReadonlyMap<string, Extension> = new Map([
  [
    'x-atrium/commit',
    extension(
      CommitParams,
      ({ changes, commits }) => changes !== undefined && commits !== undefined,
      // A commit may wait for other operations, and the client's later requests must not wait so long.
      ({ changes }, params) => changes && new DeferredResponse(changes.commit(params)),
    ),
  ],
  [
    'x-atrium/reviewHunks',
    extension(
      ReviewHunksParams,
      ({ changes }) => changes !== undefined,
      ({ changes }, params) => changes && new DeferredResponse(changes.reviewHunks(params)),
    ),
  ],
])

/** The command of this name; undefined if the host does not offer it to clients of this version. */
export function extensionNamed(core: Core, { lens }: Generation, name: string): Extension | undefined {
  const found = lens ? undefined : extensions.get(name)
  return found?.isOffered(core) === true ? found : undefined
}

/** What the result of `initialize` says about extensions. */
export function offeredExtensions(
  core: Core,
  { lens }: Generation,
): { readonly commands?: readonly string[] } {
  const commands = [...extensions].flatMap(([name, { isOffered }]) => (isOffered(core) ? [name] : []))
  return lens || commands.length === 0 ? {} : { commands }
}

function extension<P>(
  params: Schema<P>,
  isOffered: Extension['isOffered'],
  run: (core: Core, params: P) => unknown,
): Extension {
  // The params have passed the schema before `run` gets them.
  return { params, isOffered, run: (core, given) => run(core, given as P) }
}
