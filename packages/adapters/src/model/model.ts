import { TurnFailed } from '@atrium/host/ports/agent'
import type { Agent, Chat } from '@atrium/host/ports/agent'
import type { World } from '@atrium/host/ports/world'
import type { Message } from '@atrium/protocol/chat/message'
import { limits } from '@atrium/protocol/limits'
import type { AgentInfo } from '@atrium/protocol/root/state'
import { modelInfo, provider } from './provider/model-list.ts'
import type { ModelConfig, ModelsConfig } from './provider/config.ts'
import { lacksKey, problemOf } from './provider/errors.ts'
import { ModelTurn } from './turn.ts'
import type { Mind } from './turn.ts'
import { overlaid, resourcesOf, vendorsOf } from './provider/provider.ts'
import type { Environment, Vendor } from './provider/provider.ts'

export interface ModelAgentOptions {
  readonly models?: ModelsConfig
  /** Where keys and addresses are looked for. */
  readonly environment?: Environment
  readonly world: Pick<World, 'later' | 'now'>
  /** What models are told that they work on, as in `linux x64`. */
  readonly platform?: string
}

/** How long it is believed what a vendor says of its models, in milliseconds. */
const knownMs = 300_000
/** And for how long that it does not answer. */
const missingMs = 30_000

/** A coding agent on the models of Anthropic, OpenAI and whoever speaks as OpenAI does. */
export function modelAgent({ models = {}, environment = {}, ...rest }: ModelAgentOptions): Agent {
  return agentWith(vendorsOf(models, environment), { ...rest, models, environment })
}

/** The same on whatever vendors there are. */
export function agentWith(vendors: readonly Vendor[], options: ModelAgentOptions): Agent {
  const { world, models: config = {}, environment = {}, platform = 'unknown' } = options
  const known = new Map<Vendor, readonly ModelConfig[]>(vendors.map((vendor) => [vendor, vendor.models]))
  const asked = new Map<Vendor, number>()
  const keyIn = ({ keyVariable }: Vendor) => environment[keyVariable ?? ''] || undefined
  const about = (): AgentInfo => ({
    provider,
    displayName: 'Atrium Agent',
    description: 'A coding agent on a model of your choice.',
    models: vendors.flatMap((vendor) =>
      (known.get(vendor) ?? []).map((model) =>
        modelInfo(vendor.name, model, vendor.keyVariable === undefined || keyIn(vendor) !== undefined),
      ),
    ),
    protectedResources: resourcesOf(vendors),
    capabilities: { multipleChats: { fork: true, sideChat: true } },
  })
  let info = about()

  const learn = async (vendor: Vendor): Promise<void> => {
    if (world.now() - (asked.get(vendor) ?? -Infinity) < knownMs) return
    try {
      const found = await vendor.ask(keyIn(vendor), AbortSignal.timeout(limits.modelAskMs))
      asked.set(vendor, world.now())
      if (found.length > 0) known.set(vendor, found)
    } catch {
      // It is not there at this moment, or says nothing of its models: what is known stays. Whoever makes a session waits for this.
      asked.set(vendor, world.now() - knownMs + missingMs)
    }
  }

  const mindOf = async (chat: Chat): Promise<Mind> => {
    const chosen = chat.state.activeTurn?.message.model ?? lastModel(chat)
    const usable = info.models.find(({ policyState }) => policyState === 'enabled') ?? info.models[0]
    const id = chosen?.id ?? config.default ?? usable?.id ?? ''
    const vendor = vendors.find(({ name }) => id.startsWith(`${name}/`))
    if (!vendor) throw new TurnFailed('model', unknown(id))
    const model = id.slice(vendor.name.length + 1)
    const key = chat.token(vendor.resource) ?? keyIn(vendor)
    if (key === undefined && vendor.keyVariable !== undefined) throw lacksKey(vendor)
    const [facts = { id: model }] = overlaid([{ id: model }], known.get(vendor) ?? [])
    const effort = chosen?.config?.['effort']
    const wished = facts.efforts?.find((each) => each === effort)
    try {
      return { vendor, facts, model: await vendor.open(model, key), key, effort: wished }
    } catch (error) {
      throw problemOf(error, vendor, model, key).failure
    }
  }

  return {
    get info() {
      return info
    },
    resumes: true,
    async probe() {
      await Promise.all(vendors.map(learn))
      info = about()
    },
    async *run(chat, signal) {
      if (signal.aborted) return
      const turn = new ModelTurn(chat, await mindOf(chat), { platform, later: world.later }, signal)
      for await (const said of turn.run()) {
        if (signal.aborted) return
        yield said
      }
    },
  }
}

/** A worker, or a message that says nothing of it, is answered by the model that answered before. */
function lastModel({ state }: Chat): Message['model'] {
  return state.turns.findLast(({ message }) => message.model)?.message.model
}

function unknown(id: string): string {
  return id === ''
    ? 'There is no model. Configure one under "models", or set ANTHROPIC_API_KEY or OPENAI_API_KEY.'
    : `There is no model ${JSON.stringify(id.slice(0, 200))}. Choose one of those that this agent offers.`
}
