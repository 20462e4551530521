import type { Uri } from '@atrium/protocol/channel'
import { commands } from '@atrium/protocol/commands'
import type { Params } from '@atrium/protocol/commands'
import { AhpError, errorCodes } from '@atrium/protocol/errors'
import { isJsonObject } from '@atrium/protocol/json'
import { LinkClosed } from '@atrium/protocol/rpc/peer'
import type { JsonResult } from '@atrium/protocol/rpc/peer'
import type { Schema } from '@atrium/protocol/schema'
import { negotiate, versions } from '@atrium/protocol/versions/negotiate'
import type { Core } from '../kernel/core.ts'
import { generationOf, native, supportedVersions } from '../kernel/generation.ts'
import type { Generation } from '../kernel/generation.ts'
import { withClaimedChat } from '../dialect/primary-chat.ts'
import { notifySpace } from '../kernel/space.ts'
import type { ClientLink } from './client-link.ts'
import { DeferredResponse, deferredIfLate } from '../kernel/deferred-response.ts'
import { withCommittedError } from './error-commit.ts'
import { extensionNamed } from './extensions.ts'
import { initialize } from './initialize.ts'
import { checkParams } from './intake.ts'
import type { Intake } from './intake.ts'
import { reconnect } from './reconnect.ts'
import { roleProblem, valueProblem } from '../kernel/role-check.ts'
import type { StatelessChannel } from '../kernel/stateless.ts'
import { StoreAway } from '../ports/lease.ts'

/** The refusal of a request that must read the store while its database is away. */
const storeAway =
  'This node cannot reach its database, so it cannot answer this. Try again later, or at another node.'

/** The requests of one client: checked, queued, run, and answered in the client's version of the protocol. */
export class Requests {
  readonly #core: Core
  readonly #link: ClientLink
  readonly #intake: Intake
  /** The request that has begun and is not finished. A deferred response is not waited for: it may come later. */
  unfinished: Promise<unknown> | undefined

  constructor(core: Core, link: ClientLink, intake: Intake) {
    this.#core = core
    this.#link = link
    this.#intake = intake
  }

  /** Returns the result, or a promise of it. Throws, or rejects with, the error of the response. */
  receive(method: string, params: unknown): unknown {
    const command = commands.get(method)
    if (command && method === 'ping') return this.#ping(command.params, params)
    const { dialect } = this.#link
    const extension = command ? undefined : extensionNamed(this.#core, dialect.generation, method)
    const schema = extension?.params ?? (dialect.knows(method) ? command?.params : undefined)
    if (!schema) {
      const channel = this.#core.parts.stateless(channelName(objectOf(params)))
      if (!channel) throw AhpError.methodNotFound(method)
      return this.#intake.request(() => this.#begin(() => this.#ask(channel, method, params)))
    }
    if (isHandshake(method)) this.#intake.handshakeRequested = true
    return this.#intake.request(() => this.#begin(() => this.#run(method, schema, params)))
  }

  /**
   * Begins a request. At most one is unfinished at a time, because the requests of a link are queued. An error of the request
   * has the client's names for sessions.
   */
  #begin(run: () => unknown): unknown {
    const rethrow = (error: unknown): never => this.#rethrow(this.#link.dialect.error(error))
    try {
      const outcome = run()
      if (!(outcome instanceof Promise)) return outcome
      const done = () => (this.unfinished = undefined)
      this.unfinished = outcome
      outcome.then(done, done)
      return outcome.catch(rethrow)
    } catch (error) {
      return rethrow(error)
    }
  }

  /** Throws the error of a response. If the database is away, the client is told so. */
  #rethrow(error: unknown): never {
    if (!(error instanceof StoreAway)) throw error
    this.#intake.report('database away', error)
    throw new AhpError(errorCodes.InternalError, storeAway)
  }

  /** Answers a ping at once, because it must not wait behind other requests. Its params are checked as those of any request. */
  #ping(schema: Schema<unknown>, given: unknown): null {
    const answer = this.#intake.ping()
    checkedParams('ping', schema, this.#nativeParams('ping', given))
    return answer
  }

  /**
   * Runs a request when it is its turn in the queue. Only now is it known whether the handshake is done: an earlier
   * request may have completed it.
   */
  #run(method: string, schema: Schema<unknown>, given: unknown): unknown {
    const { dialect, ended, opened } = this.#link
    if (ended) throw new LinkClosed('the connection has ended')
    const handshake = isHandshake(method)
    if (handshake === opened)
      throw AhpError.invalidRequest(
        handshake ? 'this connection is open already' : 'initialize or reconnect comes first',
      )
    const extension = extensionNamed(this.#core, dialect.generation, method)
    const command = this.#core.parts.method(method)
    if (!command && !extension && !handshake) throw AhpError.methodNotFound(method)
    const checked = checkedParams(method, schema, this.#nativeParams(method, given))
    // The schema of the method has checked the params of both handshakes.
    if (method === 'initialize')
      return this.#handshake(() => initialize(this.#core, this.#link, checked as Params<'initialize'>))
    if (method === 'reconnect')
      return this.#handshake(() =>
        reconnect(this.#core, this.#link, checked as Params<'reconnect'>, 'channel' in objectOf(given)),
      )
    const params = dialect.canonicalParams(checked)
    const refusal = extension
      ? roleProblem(this.#link, method, extension.role)
      : valueProblem(this.#core, this.#link, method, params)
    if (refusal !== undefined) throw AhpError.permissionDenied(refusal)
    const committed = (outcome: unknown) => withCommittedError(this.#core, params, outcome)
    if (extension) return this.#shown(method, committed(deferredIfLate(extension.run(params, this.#link))))
    const older = this.#core.parts.olderMethod(method, dialect.generation)
    const outcome = committed(
      older
        ? older({
            link: this.#link,
            params: { channel: '', ...params },
            sent: objectOf(given),
            generation: dialect.generation,
            canonicalUri: (name) => dialect.canonicalUri(name),
          })
        : command?.(this.#link, params, channelName(checked)),
    )
    return outcome instanceof Promise
      ? outcome.then((result: unknown) => dialect.result(method, result))
      : dialect.result(method, outcome)
  }

  /** Passes a request that is no command of AHP to its channel, which answers when it can. */
  #ask(channel: StatelessChannel | AhpError, method: string, given: unknown): unknown {
    if (this.#link.ended) throw new LinkClosed('the connection has ended')
    if (!this.#link.opened) throw AhpError.invalidRequest('initialize or reconnect comes first')
    if (channel instanceof AhpError) throw channel
    const refusal = roleProblem(this.#link, method, channel.role)
    if (refusal !== undefined) throw AhpError.permissionDenied(refusal)
    const { channel: _, ...params } = { channel: '', ...(isJsonObject(given) ? given : {}) }
    if (!channel.request) throw AhpError.methodNotFound(method)
    return deferredIfLate(channel.request(method, params))
  }

  /** The result of a command that AHP does not have, with the client's names for sessions. */
  #shown(method: string, outcome: unknown): unknown {
    const { dialect } = this.#link
    if (!(outcome instanceof DeferredResponse)) return dialect.result(method, outcome)
    return outcome.map(
      (result) => dialect.result(method, result),
      (error) => this.#rethrow(error),
    )
  }

  /** Translates params from the client's version. Before the handshake is done, the version is derived from the params. */
  #nativeParams(method: string, given: unknown): unknown {
    if (typeof given !== 'object' || given === null) return given
    const { lens } = this.#link.opened ? this.#link.dialect.generation : assumedGeneration(method, given)
    return lens ? withClaimedChat(this.#core, lens.paramsUp(method, given)) : given
  }

  /**
   * Runs a handshake. Entries that are delivered during the handshake are sent after its response. A failed handshake is
   * undone.
   */
  async #handshake(run: () => Promise<string>): Promise<JsonResult> {
    const link = this.#link
    link.outbox.pause()
    try {
      const answer = link.answer(await run())
      // The notification is sent after the answer, because the outbox is paused.
      if (this.#core.log.diskFull) notifySpace(this.#core, link, true)
      return answer
    } catch (error) {
      link.abandonHandshake()
      // Close after the error response is sent.
      if (error instanceof AhpError && error.code === errorCodes.UnsupportedProtocolVersion) {
        this.#intake.report('unsupported protocol version', error.message)
        this.#core.world.later(0, () => link.close(1002, 'no common protocol version'))
      }
      throw error
    } finally {
      link.outbox.resume()
    }
  }
}

function checkedParams(method: string, schema: Schema<unknown>, given: unknown): unknown {
  const decoded = checkParams(schema, given)
  if (!decoded.ok) throw AhpError.invalidParams(`${method}: ${decoded.problem}`)
  return decoded.value
}

function objectOf(given: unknown): object {
  return typeof given === 'object' && given !== null ? given : {}
}

/** The name of a request's channel, as the client wrote it. */
function channelName(params: unknown): Uri {
  // A schema has checked the params, so they are an object. Most methods have the member `channel`.
  const { channel } = params as { channel?: Uri }
  return typeof channel === 'string' ? channel : ''
}

/**
 * The version of the params of a request before the handshake is done. `initialize` lists versions in its params. Other requests
 * name no version. Params without a `channel` are those of 0.1, because every later version has that member.
 */
function assumedGeneration(method: string, params: object): Generation {
  if (method !== 'initialize') return 'channel' in params ? native : generationOf(oldest)
  const offered = 'protocolVersions' in params ? params.protocolVersions : undefined
  const texts = Array.isArray(offered) ? offered.filter((each) => typeof each === 'string') : []
  try {
    return generationOf(negotiate(texts, supportedVersions).version)
  } catch {
    // `initialize` itself will refuse the versions.
    return native
  }
}

const [oldest] = versions

function isHandshake(method: string): boolean {
  return method === 'initialize' || method === 'reconnect'
}
