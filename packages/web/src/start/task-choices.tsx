import type { ConfigSchema } from '@atrium/protocol/common/config'
import type { AgentInfo } from '@atrium/protocol/root/state'
import type { Draft } from '../chat/composer/messages.ts'
import { readinessOf } from '../sessions/readiness.ts'
import { Choice } from './choice.tsx'
import { ConfigForm } from './config-form.tsx'
import type { ConfigValues } from './config-form.tsx'
import { splitSettings } from './setting-choices.ts'

interface Props {
  readonly agents: readonly AgentInfo[]
  readonly agent: AgentInfo | undefined
  readonly draft: Draft
  /** The settings that a session can have. Undefined: none, or none that this device may choose. */
  readonly schema: ConfigSchema | undefined
  readonly values: ConfigValues
  readonly onAgent: (provider: string) => void
  readonly onDraft: (draft: Draft) => void
  readonly onSetting: (key: string, value: unknown) => void
}

/** The choices in the row of the message: its agent and its model. */
export function AgentChoices({ agents, agent, draft, onAgent, onDraft }: Props) {
  const models = agent?.models ?? []
  return (
    <div class="choices-row">
      <Choice
        label="Agent"
        chosen={agent?.provider ?? ''}
        title={agent?.description}
        options={agents.map((each) => ({ value: each.provider, label: agentLabel(each) }))}
        onChoose={onAgent}
      />
      {models.length > 0 && (
        <Choice
          label="Model"
          chosen={draft.model?.id ?? ''}
          options={[
            { value: '', label: 'As the agent decides' },
            ...models.map(({ id, name, policyState }) => ({
              value: id,
              label: name,
              disabled: policyState === 'disabled',
            })),
          ]}
          onChoose={(id) => {
            const { model: _, ...without } = draft
            onDraft(id === '' ? without : { ...draft, model: { id } })
          }}
        />
      )}
    </div>
  )
}

/** The settings with a few values, such as isolation. */
export function QuickSettings({ schema, values, onSetting }: Props) {
  return (
    <>
      {splitSettings(schema).quick.map(
        ([name, { title, description, enum: all = [], enumLabels, ...rest }]) => (
          <Choice
            key={name}
            label={title}
            title={description}
            chosen={String(all.findIndex((each) => each === (values[name] ?? rest.default)))}
            options={all.map((each, at) => ({ value: String(at), label: enumLabels?.[at] ?? String(each) }))}
            onChoose={(at) => onSetting(name, all[Number(at)])}
          />
        ),
      )}
    </>
  )
}

/** All other settings, behind a click. */
export function MoreSettings({ agent, draft, schema, values, onDraft, onSetting }: Props) {
  const { model } = draft
  return (
    <>
      {model && (
        <ConfigForm
          legend="Settings of the model"
          schema={agent?.models.find(({ id }) => id === model.id)?.configSchema}
          values={model.config ?? {}}
          onChange={(key, value) =>
            onDraft({ ...draft, model: { ...model, config: { ...model.config, [key]: value } } })
          }
        />
      )}
      <ConfigForm
        legend="More settings"
        schema={splitSettings(schema).more}
        values={values}
        onChange={onSetting}
      />
    </>
  )
}

/** The name of an agent, with what a person should know before choosing it. */
function agentLabel(agent: AgentInfo): string {
  const { state, words } = readinessOf(agent)
  return state === 'ready' && words === 'ready' ? agent.displayName : `${agent.displayName} · ${words}`
}
