import type { Client } from '@atrium/client/client'
import { newId } from '@atrium/client/shared/globals'
import type { AutomationAction, AutomationRunAction } from '@atrium/protocol/automation/actions'
import type {
  AutomationDefinition,
  AutomationEntry,
  AutomationRunSummary,
} from '@atrium/protocol/automation/state'
import type { MissedRuns } from '@atrium/protocol/automation/timeline'
import { automationUri, automationsUri } from '@atrium/protocol/uri'
import { askExtension } from '../link/extension.ts'
import { failedRequest, failureOf, failureWords } from '../link/outcome-words.ts'

/** What a person can do with automations. What fails is said. */
export class Automations {
  readonly #client: Client
  readonly #say: (text: string) => void

  constructor(client: Client, say: (text: string) => void) {
    this.#client = client
    this.#say = say
  }

  /** Returns why the automation was not created; undefined if it was. */
  create(definition: AutomationDefinition): Promise<string | undefined> {
    const resource = automationUri(newId())
    return this.#dispatch(automationsUri, { type: 'automation/createRequested', resource, definition })
  }

  /** Changes what differs. Returns why it was not changed; undefined if it was. */
  change(
    { resource, definition: before }: AutomationEntry,
    wanted: AutomationDefinition,
  ): Promise<string | undefined> {
    const given = { title: wanted.title, message: wanted.message, session: wanted.session }
    const all = { ...given, triggers: wanted.triggers, ...(wanted._meta && { _meta: wanted._meta }) }
    const old: { readonly [key: string]: unknown } = { ...before }
    const changes = Object.fromEntries(
      Object.entries(all).filter(([key, value]) => JSON.stringify(old[key]) !== JSON.stringify(value)),
    )
    if (Object.keys(changes).length === 0) return Promise.resolve(undefined)
    return this.#dispatch(automationsUri, { type: 'automation/updateRequested', resource, changes })
  }

  async enable({ resource }: AutomationEntry, enabled: boolean): Promise<void> {
    const changes = { enabled }
    this.#report(
      await this.#dispatch(automationsUri, { type: 'automation/updateRequested', resource, changes }),
    )
  }

  async remove({ resource }: AutomationEntry): Promise<void> {
    this.#report(await this.#dispatch(automationsUri, { type: 'automation/removed', resource }))
  }

  async cancel({ resource }: AutomationRunSummary): Promise<void> {
    this.#report(await this.#dispatch(resource, { type: 'automationRun/cancelRequested' }))
  }

  async run({ resource, definition: { title } }: AutomationEntry): Promise<void> {
    try {
      const params = { channel: automationsUri, automation: resource, requestId: newId() }
      await this.#client.ask('runAutomation', params)
    } catch (error) {
      this.#say(failureWords(failedRequest(error), `${title} was not started`, `${title} was started`))
    }
  }

  /** Shows more runs, to all who see the automation. */
  async earlier({ resource, runsNextCursor: cursor }: AutomationEntry): Promise<void> {
    if (cursor === undefined) return
    try {
      const params = { channel: automationsUri, automation: resource, cursor }
      await this.#client.ask('fetchAutomationRuns', params)
    } catch (error) {
      this.#say(`Earlier runs could not be read: ${failedRequest(error).reason}`)
    }
  }

  async missed({ resource }: AutomationEntry): Promise<readonly MissedRuns[]> {
    try {
      // The answer is not checked: a host of the same build answers in this shape.
      const { items } = (await askExtension(this.#client, 'x-atrium/missedRuns', {
        channel: automationsUri,
        automation: resource,
      })) as { readonly items: readonly MissedRuns[] }
      return items
    } catch (error) {
      this.#say(`The missed runs could not be read: ${failedRequest(error).reason}`)
      return []
    }
  }

  async #dispatch(
    channel: string,
    action: AutomationAction | AutomationRunAction,
  ): Promise<string | undefined> {
    return failureOf(await this.#client.dispatch(channel, action))
  }

  #report(failure: string | undefined): void {
    if (failure !== undefined) this.#say(failure)
  }
}
