import { withReadiness } from '@atrium/protocol/root/readiness'
import { TurnFailed } from '@atrium/host/ports/agent'
import type { Agent, Chat } from '@atrium/host/ports/agent'
import type { World } from '@atrium/host/ports/world'
import type { Message } from '@atrium/protocol/chat/message'
import { limits } from '@atrium/protocol/limits'
import type { AgentInfo } from '@atrium/protocol/root/state'
import { modelInfo, agentId } from './provider/model-list.ts'
import type { ModelConfig, ModelsConfig } from './provider/config.ts'
import { missingKey, modelProblem } from './provider/errors.ts'
import { toolDefinitions } from './tools.ts'
import { ModelTurn } from './turn.ts'
import type { ChosenModel } from './turn.ts'
import { overlay, providersOf } from './provider/provider.ts'
import { missingKeys, protectedResources } from './provider/resources.ts'
import type { Environment, ModelProvider } from './provider/provider.ts'

export interface ModelAgentOptions {
  readonly models?: ModelsConfig
  /** Environment variables with API keys and base URLs. */
  readonly environment?: Environment
  readonly world: Pick<World, 'later' | 'now'>
  /** Operating system and architecture for the system prompt, for example `linux x64`. */
  readonly platform?: string
}

/** The time after which a provider is asked for its list of models again. */
const modelListTtlMs = 300_000
/** The same time for a provider that did not answer. */
const retryAfterMs = 30_000
const name = 'Atrium Agent'

/** Creates a coding agent on the models of Anthropic, OpenAI and OpenAI-compatible servers. */
export function modelAgent({ models = {}, environment = {}, ...rest }: ModelAgentOptions): Agent {
  return agentOn(providersOf(models, environment), { ...rest, models, environment })
}

/** Creates the agent with the given providers. */
export function agentOn(providers: readonly ModelProvider[], options: ModelAgentOptions): Agent {
  const { world, models: config = {}, environment = {}, platform = 'unknown' } = options
  const modelLists = new Map<ModelProvider, readonly ModelConfig[]>(
    providers.map((provider) => [provider, provider.models]),
  )
  const listedAt = new Map<ModelProvider, number>()
  const keyFromEnvironment = ({ keyVariable }: ModelProvider) => environment[keyVariable ?? ''] || undefined
  const isReady = (provider: ModelProvider) =>
    provider.keyVariable === undefined || keyFromEnvironment(provider) !== undefined
  const isUsable = providers.some(isReady)
  const needed = howToGetReady(providers)
  const describe = (): AgentInfo => {
    const description = {
      provider: agentId,
      // Clients show this name where a user chooses an agent. It tells that a key is missing, because every turn
      // would fail without one.
      displayName: isUsable ? name : `${name} (needs a key)`,
      description: `A coding agent on a model of your choice.${isUsable ? '' : ` It ${needed}`}`,
      models: providers.flatMap((provider) =>
        (modelLists.get(provider) ?? []).map((model) => modelInfo(provider.name, model, isReady(provider))),
      ),
      protectedResources: protectedResources(providers, isUsable),
      capabilities: { multipleChats: { fork: true, sideChat: true } },
    }
    return isUsable
      ? withReadiness(description, { state: 'ready', takesSteering: true })
      : withReadiness(description, {
          state: 'needs-sign-in',
          problem: `${name} ${needed}`,
          takesSteering: true,
        })
  }
  let info = describe()

  const refreshModels = async (provider: ModelProvider): Promise<void> => {
    if (world.now() - (listedAt.get(provider) ?? -Infinity) < modelListTtlMs) return
    try {
      const found = await provider.listModels(
        keyFromEnvironment(provider),
        AbortSignal.timeout(limits.modelAskMs),
      )
      listedAt.set(provider, world.now())
      if (found.length > 0) modelLists.set(provider, found)
    } catch {
      // The provider is down or has no list. The previous list is kept. The request is not repeated soon, because the
      // creation of a session waits for it.
      listedAt.set(provider, world.now() - modelListTtlMs + retryAfterMs)
    }
  }

  const chooseModel = async (chat: Chat): Promise<ChosenModel> => {
    const chosen = chat.state.activeTurn?.message.model ?? lastModel(chat)
    const keyOf = (each: ModelProvider) => chat.token(each.resource) ?? keyFromEnvironment(each)
    const providerOf = (id: string) => providers.find((each) => id.startsWith(`${each.name}/`))
    const firstUsable = info.models.find((model) => {
      const of = providerOf(model.id)
      return of && (of.keyVariable === undefined || keyOf(of) !== undefined)
    })
    const id = chosen?.id ?? config.default ?? (firstUsable ?? info.models[0])?.id ?? ''
    const provider = providerOf(id)
    if (!provider) throw new TurnFailed('model', unknownModel(id))
    const model = id.slice(provider.name.length + 1)
    const key = keyOf(provider)
    if (key === undefined && provider.keyVariable !== undefined) throw missingKey(provider)
    const [settings = { id: model }] = overlay([{ id: model }], modelLists.get(provider) ?? [])
    const effort = chosen?.config?.['effort']
    const supported = settings.efforts?.find((each) => each === effort)
    try {
      const opened = await provider.openModel(model, key)
      return { provider, config: settings, model: opened, key, effort: supported }
    } catch (error) {
      throw modelProblem(error, provider, model, key).failure
    }
  }

  return {
    get info() {
      return info
    },
    resumes: true,
    tools: toolDefinitions,
    missing: (hasToken) => missingKeys(providers, isUsable, hasToken),
    async probe() {
      await Promise.all(providers.map(refreshModels))
      info = describe()
    },
    async *run(chat, signal) {
      if (signal.aborted) return
      const turn = new ModelTurn(chat, await chooseModel(chat), { platform, later: world.later }, signal)
      for await (const action of turn.run()) {
        if (signal.aborted) return
        yield action
      }
    },
  }
}

/** Returns the model of the last turn whose message named one. It is used for a message that names no model. */
function lastModel({ state }: Chat): Message['model'] {
  return state.turns.findLast(({ message }) => message.model)?.message.model
}

function unknownModel(id: string): string {
  return id === ''
    ? 'No model is configured. Add one under "models" in the config file of the host, or set ANTHROPIC_API_KEY or OPENAI_API_KEY where the host is started.'
    : `Model ${JSON.stringify(id.slice(0, 200))} does not exist. Choose one from the list of this agent.`
}

function howToGetReady(providers: readonly ModelProvider[]): string {
  const variables = providers.flatMap(({ keyVariable = [] }) => keyVariable)
  return `needs a key: set ${variables.join(' or ')} where the host runs, or sign in.`
}
