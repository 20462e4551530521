import { randomUUID } from 'node:crypto'
import type { AutomationDefinition, AutomationEntry } from '@atrium/protocol/automation/state'
import {
  AutomationEntry as Entry,
  AutomationRunState,
  AutomationState,
} from '@atrium/protocol/automation/state'
import type { Action, Uri } from '@atrium/protocol/channel'
import { automationsUri } from '@atrium/protocol/uri'
import { actionOf } from '../kit/action.ts'
import { Skipped, check, checkShape, same } from '../kit/check.ts'
import type { Client } from '../kit/client.ts'
import { promptText } from '../kit/conversation.ts'
import type { Kit } from '../kit/kit.ts'
import type { Rule, Topic } from '../kit/rule.ts'

/** Work that the host begins by itself. The automations of these rules are paused, and removed again. */
export const automations: Topic = {
  name: 'automations',
  uses: ['runAutomation'],
  rules: [
    {
      id: 'K230',
      title: 'a host that offers automations has their channel, with a state that matches its schema',
      source: 'initialize: automations; the channel ahp-automations://',
      async run(kit) {
        const { state } = await (await withAutomations(kit)).subscribe(automationsUri)
        checkShape('the state of the automations', AutomationState, state)
      },
    },
    {
      id: 'K231',
      title: 'an automation that a client creates is set for every subscriber',
      source: 'automation/createRequested: the host answers with automation/set',
      run: creating(async ({ client, create }, kit) => {
        const other = await withAutomations(kit)
        await other.subscribe(automationsUri)
        const entry = await create()
        for (const each of [client, other]) {
          const set = checkShape('an automation', Entry, await lastSet(each, entry))
          same('its title', titleOf(entry), set.definition.title)
          same('whether it is enabled', false, set.definition.enabled)
        }
      }),
    },
    {
      id: 'K232',
      title: 'a schedule that is no cron expression of five fields is rejected, and creates nothing',
      source: 'automations: the grammar of schedules',
      run: creating(async ({ client, uri }, kit) => {
        for (const expression of ['', '* * * *', '0 0 0 1 1 *', '61 * * * *', '@daily', '* * * * mondays']) {
          const definition = definitionOf(kit, uri, expression)
          await client.mustReject(
            automationsUri,
            actionOf('automation/createRequested', { resource: uri, definition }),
          )
        }
        const listed = (await entries(kit)).some(({ resource }) => resource === uri)
        check(!listed, 'no automation', uri)
      }),
    },
    {
      id: 'K233',
      title: 'an update changes what it names, and leaves the rest',
      source: 'automation/updateRequested: the changes of a definition',
      run: created(async ({ client, uri }) => {
        const before = client.envelopes.length
        const changes = { title: `${titleOf(uri)}, changed` }
        await client.mustAccept(
          automationsUri,
          actionOf('automation/updateRequested', { resource: uri, changes }),
        )
        const set = await lastSet(client, uri, before)
        same('the title', changes.title, set.definition.title)
        same('the message', promptText, set.definition.message.text)
        same('the number of its triggers', 1, set.definition.triggers.length)
      }),
    },
    {
      id: 'K234',
      title: 'runAutomation starts a run with a channel, and the same request starts no second one',
      source: 'runAutomation: requestId; the channel of a run',
      run: created(async ({ client, uri }) => {
        const request = { channel: automationsUri, automation: uri, requestId: randomUUID() }
        const run = await client.mustSucceed('runAutomation', request)
        const { state } = await client.subscribe(run.resource)
        const found = checkShape('the state of the run', AutomationRunState, state)
        same('its automation', uri, found.automation)
        same('its origin', 'manual', found.origin.kind)
        same('the answer to the same request', run, await client.mustSucceed('runAutomation', request))
      }),
    },
    {
      id: 'K235',
      title: 'a removed automation is gone for new clients',
      source: 'automation/removed',
      run: created(async ({ client, uri }, kit) => {
        await client.mustAccept(automationsUri, actionOf('automation/removed', { resource: uri }))
        const listed = (await entries(kit)).some(({ resource }) => resource === uri)
        check(!listed, 'no automation', uri)
      }),
    },
    {
      id: 'K236',
      title: 'runs of an automation that does not exist are refused',
      source: 'runAutomation, fetchAutomationRuns: the automation',
      async run(kit) {
        const client = await withAutomations(kit)
        const automation = unusedAutomation()
        const params = { channel: automationsUri, automation }
        await client.mustFail('runAutomation', { ...params, requestId: randomUUID() })
        await client.mustFail('fetchAutomationRuns', params)
      },
    },
  ],
}

interface Opened {
  readonly client: Client
  /** The automation of the rule. */
  readonly uri: Uri
  /** Asks for the automation, and returns its URI. The rule fails if the host rejects it. */
  create(): Promise<Uri>
}

/** A rule with an automation, which does not exist yet. Afterwards it is removed, with the sessions of its runs. */
function creating(test: (opened: Opened, kit: Kit) => Promise<void>): Rule['run'] {
  return async (kit) => {
    const client = await withAutomations(kit)
    const uri = unusedAutomation()
    const create = async () => {
      const request = { resource: uri, definition: definitionOf(kit, uri, '0 0 1 1 *') }
      await client.mustAccept(automationsUri, actionOf('automation/createRequested', request))
      return uri
    }
    await client.subscribe(automationsUri)
    try {
      await test({ client, uri, create }, kit)
    } finally {
      await remove(kit, client, uri).catch(() => {})
    }
  }
}

/** A rule with an automation that exists. Without it the rule is skipped: K231 judges the creation. */
function created(test: (opened: Opened, kit: Kit) => Promise<void>): Rule['run'] {
  return creating(async (opened, kit) => {
    const { client, uri, create } = opened
    await create()
      .then(() => lastSet(client, uri))
      .catch((error: Error) => {
        throw new Skipped(`no automation could be created: ${error.message}`)
      })
    await test(opened, kit)
  })
}

/** A new connection to a host that lets clients create automations. */
async function withAutomations(kit: Kit): Promise<Client> {
  const client = await kit.connect()
  const { automations: offered } = await client.initialize()
  if (!offered?.create) throw new Skipped('clients cannot create automations on this host')
  return client
}

async function remove(kit: Kit, client: Client, uri: Uri): Promise<void> {
  const runs = (await entries(kit)).find(({ resource }) => resource === uri)?.runs ?? []
  for (const { resource } of runs) {
    const cancel = client.dispatch(resource, actionOf('automationRun/cancelRequested'))
    await client.outcome(cancel)
    const { state } = await client.subscribe(resource)
    for (const session of (state as AutomationRunState).sessions) kit.disposeLater(session)
  }
  await client.outcome(client.dispatch(automationsUri, actionOf('automation/removed', { resource: uri })))
}

/** The automations in a snapshot that a new client gets. */
async function entries(kit: Kit): Promise<readonly AutomationEntry[]> {
  const { state } = await (await kit.join()).subscribe(automationsUri)
  return (state as AutomationState).entries
}

/** The last `automation/set` of an automation after the first `after` envelopes. */
function lastSet(client: Client, uri: Uri, after = 0): Promise<AutomationEntry> {
  const found = (action: Action) =>
    action.type === 'automation/set'
      ? (action as Action & { readonly automation: AutomationEntry }).automation
      : undefined
  return client.until(`automation/set of ${uri}`, () =>
    client.envelopes
      .slice(after)
      .map(({ action }) => found(action))
      .findLast((entry) => entry?.resource === uri),
  )
}

function definitionOf(kit: Kit, uri: Uri, expression: string): AutomationDefinition {
  const { provider } = kit.facts
  return {
    title: titleOf(uri),
    message: { text: promptText, origin: { kind: 'automation' } },
    session: { ...(provider !== undefined && { provider }), ...kit.options.sessionParams },
    enabled: false,
    triggers: [{ kind: 'schedule', id: 'yearly', schedule: { expression, timeZone: 'UTC' } }],
  }
}

const titleOf = (uri: Uri) => `conformance ${uri}`
const unusedAutomation = () => `ahp-automation:/${randomUUID()}`
