import type { Client } from '@atrium/client/client'
import type { AgentInfo } from '@atrium/protocol/root/state'
import type { ProtectedResourceMetadata } from '@atrium/protocol/common/auth'
import { rootUri } from '@atrium/protocol/uri'
import { useEffect, useState } from 'preact/hooks'
import { useLiveChannel } from '../link/live-channel.ts'
import { RoleNote } from '../link/role-note.tsx'
import { useMay } from '../link/role.ts'
import { SignInCard } from '../link/sign-in-card.tsx'
import { resourcesIn } from '../link/sign-in-resources.ts'
import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { GrowingText } from '../ui/growing-text.tsx'
import { AgentChoice } from './agent-choice.tsx'
import { ConfigForm } from './config-form.tsx'
import type { ConfigValues } from './config-form.tsx'
import { FolderPicker } from './folder-picker.tsx'
import { ModelChoice } from './model-choice.tsx'
import { createSession } from './new-session.ts'
import { readinessOf } from './readiness.ts'
import { useSessionConfig } from './session-config.ts'

interface Props {
  readonly client: Client
  /** The folder that is chosen first. Undefined: the host has not told it yet. */
  readonly path: string | undefined
  /** Folders in which sessions have worked lately, the newest first. */
  readonly folders: readonly string[]
  /** The agent that is chosen first. Undefined: the first that is ready. */
  readonly agent?: string | undefined
  readonly onCreated: (session: string) => void
  readonly onClose: () => void
}

/** Asks what a new session needs: an agent, a folder, and what shall be done. */
export function NewSessionDialog({ client, path: first, folders, agent: wanted, onCreated, onClose }: Props) {
  const { state } = useLiveChannel(client, 'root', rootUri)
  const agents = state?.agents ?? []
  const [given, setProvider] = useState(wanted)
  const provider = given ?? firstReady(agents)?.provider ?? ''
  const agent = agents.find((each) => each.provider === provider)
  const [path, setPath] = useState(first)
  // The first folder that becomes known stays. Later changes of the list must not change what a person is about to start.
  useEffect(() => setPath((now) => now ?? first), [first])
  const [text, setText] = useState('')
  const [config, setConfig] = useState<ConfigValues>({})
  const [model, setModel] = useState<{ readonly id: string; readonly config: ConfigValues }>()
  const [problem, setProblem] = useState<string>()
  const [signIns, setSignIns] = useState<readonly ProtectedResourceMetadata[]>([])
  const [busy, setBusy] = useState(false)
  const owns = useMay('own')
  const resolved = useSessionConfig(client, path === undefined ? undefined : agent, path ?? '')
  const missing = missingWords(provider !== '', path !== undefined)
  const create = async () => {
    if (busy || path === undefined || missing !== undefined) return
    setBusy(true)
    setProblem(undefined)
    try {
      onCreated(await createSession(client, { provider, path, config, model: selection(model), text }))
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error))
      setSignIns(resourcesIn(error))
      setBusy(false)
    }
  }
  if (signIns.length > 0)
    return (
      <Dialog title="New session" wide onClose={onClose}>
        <SignInCard client={client} resources={signIns} why={problem} onDone={() => void create()} />
        <footer class="dialog-foot">
          <Button onClick={() => setSignIns([])}>Back</Button>
        </footer>
      </Dialog>
    )
  return (
    <Dialog title="New session" wide onClose={onClose}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault()
          void create()
        }}
      >
        <div class="field">
          <span>What shall be done?</span>
          <GrowingText
            value={text}
            label="What shall be done?"
            placeholder="A task, or a question. It can also wait."
            rows={3}
            autoFocus
            onInput={setText}
            onKeyDown={(event) => {
              if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) void create()
            }}
          />
        </div>
        <AgentChoice agents={agents} chosen={provider} onChoose={setProvider} />
        {agent && agent.models.length > 0 && (
          <ModelChoice models={agent.models} chosen={model} onChoose={setModel} />
        )}
        {path !== undefined && (
          <FolderPicker
            client={client}
            path={path}
            recent={folders.filter((each) => each !== path)}
            onPick={setPath}
          />
        )}
        <RoleNote needed="own" to="choose settings, or a folder in which no session works" />
        {owns && (
          <ConfigForm
            legend="Settings of the session"
            schema={resolved?.schema}
            values={{ ...resolved?.values, ...config }}
            onChange={(key, value) => setConfig({ ...config, [key]: value })}
          />
        )}
        {problem !== undefined && (
          <p class="problem" role="alert">
            {problem}
          </p>
        )}
        <p class="quiet" role="status">
          {missing !== undefined && `Waiting for the host to name ${missing}.`}
        </p>
        <footer class="dialog-foot">
          <Button onClick={onClose}>Cancel</Button>
          <Button submit look="primary" disabled={busy || missing !== undefined}>
            {busy ? 'Creating…' : text.trim() === '' ? 'Create' : 'Start'}
          </Button>
        </footer>
      </form>
    </Dialog>
  )
}

/** What the host has not told yet, and a new session needs. Undefined: nothing. */
function missingWords(hasAgent: boolean, hasFolder: boolean): string | undefined {
  if (hasAgent && hasFolder) return undefined
  if (hasAgent) return 'its folder'
  return hasFolder ? 'its agents' : 'its agents and its folder'
}

function firstReady(agents: readonly AgentInfo[]): AgentInfo | undefined {
  return agents.find((agent) => readinessOf(agent).state === 'ready') ?? agents[0]
}

function selection(model: { readonly id: string; readonly config: ConfigValues } | undefined) {
  if (!model) return undefined
  // The fields of the form give only strings, numbers and booleans: hence the cast.
  const config = model.config as { readonly [key: string]: string | number | boolean | null }
  return { id: model.id, ...(Object.keys(config).length > 0 && { config }) }
}
