import type { Uri } from '@atrium/protocol/channel'
import type { Params, Result } from '@atrium/protocol/commands'
import { AhpError } from '@atrium/protocol/errors'
import { changeable } from '../../channels/names.ts'
import { wake } from '../../channels/wake.ts'
import type { Core } from '../../kernel/core.ts'
import type { Channel } from '../../kernel/log/channel.ts'
import type { CommitParams, CommitResult, ReviewHunksParams, ReviewHunksResult } from './extensions.ts'
import { CaptureFailed } from '../../ports/captures.ts'
import { WorktreeRefused } from '../../ports/worktrees.ts'
import { applyId, applyWorktree } from './apply.ts'
import { CommitFailed } from '../../ports/commits.ts'
import type { Changesets } from './changesets.ts'
import type { ChatCounts } from './chat-counts/chat-counts.ts'
import { commitOperation, commitWith, isCommitOperation } from './commit/commit-operations.ts'
import type { Uncommitted } from './commit/commit-operations.ts'
import type { Computation, Subject } from './computation.ts'
import { discardFile } from './discard.ts'
import type { Discarding } from './discard.ts'
import type { Reviews } from './review/reviews.ts'
import { TurnUndo } from './undo/turn-undo.ts'
import type { UndoContext } from './undo/turn-undo.ts'

type Invocation = Params<'invokeChangesetOperation'>
type Answer = Result<'invokeChangesetOperation'>

interface Context extends UndoContext {
  readonly core: () => Core
  readonly computation: Computation
  readonly changesets: Changesets
  readonly reviews: Reviews
  readonly counts: ChatCounts
}

/** The operations that clients invoke on changesets. They run one after the other, because they change files. */
export class Operations {
  readonly #context: Context
  #queue: Promise<unknown> = Promise.resolve()

  constructor(context: Context) {
    this.#context = context
  }

  invoke(invocation: Invocation): Promise<Answer> {
    return this.whenIdle(() => this.#invoke(invocation))
  }

  /** Commits with a message that a person has written. */
  commit(params: CommitParams): Promise<CommitResult> {
    return this.whenIdle(async () => {
      const { channel, subject } = await this.#changeset(params.channel)
      if (subject.scope.kind !== 'uncommitted')
        throw AhpError.invalidParams('x-atrium/commit: only uncommitted files can be committed')
      return this.#run(channel, 'commit', () => commitWith(this.#uncommitted(subject), params))
    })
  }

  /** Marks hunks of a file as reviewed, or as not reviewed. */
  reviewHunks(params: ReviewHunksParams): Promise<ReviewHunksResult> {
    const { computation, reviews, changesets, taking } = this.#context
    return this.whenIdle(async () => {
      const { channel, subject } = await this.#changeset(params.channel)
      const result = await taking.hold(async () => {
        const { files } = await computation.of(subject)
        return reviews.mark({ subject, shown: channel.head.files, files }, params)
      })
      await changesets.refresh(subject.session.uri)
      return result
    })
  }

  /**
   * Computes the changesets again after a client has marked whole files, so that the hunks of these files get the
   * same marks.
   */
  async filesReviewed(channel: Channel<'changeset'>): Promise<void> {
    const subject = await this.#context.changesets.subject(channel.uri)
    if (subject) await this.#context.changesets.refresh(subject.session.uri)
  }

  #uncommitted(subject: Subject): Uncommitted {
    const { core, computation } = this.#context
    return { core: core(), session: subject.session, compute: () => computation.of(subject) }
  }

  /** Runs a task when no operation runs. */
  whenIdle<T>(task: () => Promise<T>): Promise<T> {
    const done = this.#queue.then(task)
    this.#queue = done.catch(() => {})
    return done
  }

  /** Resolves when the operations that were invoked until now have ended. */
  async settled(): Promise<void> {
    await this.#queue
  }

  async #changeset(uri: Uri): Promise<{ readonly channel: Channel<'changeset'>; readonly subject: Subject }> {
    const core = this.#context.core()
    changeable(core)
    const channel = await wake(core, uri)
    const subject = await this.#context.changesets.subject(uri)
    if (!channel?.is('changeset') || !subject)
      throw AhpError.notFound(`no changeset ${JSON.stringify(uri.slice(0, 200))}`)
    return { channel, subject }
  }

  async #invoke({ channel: uri, operationId, target }: Invocation): Promise<Answer> {
    const { channel, subject } = await this.#changeset(uri)
    const { operations, error } = await this.#context.computation.of(subject)
    const operation = operations.find(({ id }) => id === operationId)
    if (!operation && error) throw AhpError.conflict(error.message)
    if (!operation)
      throw invalid(`this changeset has no operation ${JSON.stringify(operationId.slice(0, 100))}`)
    const scope = target?.kind ?? 'changeset'
    if (!operation.scopes.includes(scope))
      throw invalid(`${operationId} needs a target of kind ${operation.scopes.join(' or ')}`)
    if (operation.status === 'disabled') {
      // The client may have seen an older state, in which the operation could run.
      await this.#context.changesets.refresh(subject.session.uri)
      throw AhpError.conflict(operation.description ?? 'There is no file that this can change now.')
    }
    return this.#run(channel, operationId, async () => ({
      message: await this.#act(channel, subject, operationId, target),
    }))
  }

  /** Runs an operation, and shows it to all clients. */
  async #run<T>(channel: Channel<'changeset'>, operationId: string, act: () => Promise<T>): Promise<T> {
    const { core, changesets, counts, taking } = this.#context
    const show = (status: 'running' | 'idle') => {
      const { log } = core()
      if (
        log.channel(channel.uri) === channel &&
        channel.head.operations?.some(({ id }) => id === operationId)
      )
        log.append(channel, { type: 'changeset/operationStatusChanged', operationId, status })
    }
    show('running')
    try {
      return await taking.hold(act)
    } catch (error) {
      if (error instanceof CaptureFailed || error instanceof CommitFailed || error instanceof WorktreeRefused)
        throw AhpError.conflict(error.message)
      throw error
    } finally {
      show('idle')
      const session = (await changesets.subject(channel.uri))?.session
      await changesets.refresh(session?.uri)
      if (session) await counts.operationEnded(session)
    }
  }

  #act(
    channel: Channel<'changeset'>,
    { session, chat, scope }: Subject,
    operationId: string,
    target: Invocation['target'],
  ): Promise<string> {
    const resource = target && 'resource' in target ? target.resource : undefined
    if (scope.kind === 'turn' && chat) {
      if (chat.head.activeTurn?.id === scope.turnId)
        throw AhpError.turnInProgress('this turn is in progress: wait for its end, or cancel it')
      const undo = new TurnUndo(this.#context, chat, scope.turnId)
      if (operationId === 'undo') return undo.undo(resource)
      if (operationId === 'undo-uncertain') return undo.undo(undefined, true)
      if (operationId === 'redo') return undo.redo(resource)
      if (operationId === 'keep') return undo.keep(required(resource))
      return undo.force(required(resource), operationId === 'undo-with-copy')
    }
    const { core, running } = this.#context
    if (operationId === applyId) return applyWorktree(core(), session, running)
    if (isCommitOperation(operationId))
      return commitOperation(this.#uncommitted({ session, scope }), operationId, resource)
    const part = target?.kind === 'range' ? { part: target } : {}
    const discarding: Discarding = { session, channel, resource: required(resource), ...part }
    return discardFile(this.#context, discarding)
  }
}

function required(resource: Uri | undefined): Uri {
  if (resource === undefined) throw invalid('this operation needs a resource')
  return resource
}

function invalid(problem: string): AhpError {
  return AhpError.invalidParams(`invokeChangesetOperation: ${problem}`)
}
