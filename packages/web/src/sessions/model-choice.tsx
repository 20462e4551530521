import type { SessionModelInfo } from '@atrium/protocol/root/state'
import { ConfigForm } from './config-form.tsx'
import type { ConfigValues } from './config-form.tsx'

export interface ChosenModel {
  readonly id: string
  readonly config: ConfigValues
}

interface Props {
  readonly models: readonly SessionModelInfo[]
  readonly chosen: ChosenModel | undefined
  readonly onChoose: (model: ChosenModel | undefined) => void
}

/** The models of an agent, and the settings of the chosen one. */
export function ModelChoice({ models, chosen, onChoose }: Props) {
  const model = models.find(({ id }) => id === chosen?.id)
  return (
    <>
      <label class="field">
        <span>Model</span>
        <select
          value={model?.id ?? ''}
          onChange={({ currentTarget: { value } }) =>
            onChoose(value === '' ? undefined : { id: value, config: {} })
          }
        >
          <option value="">As the agent decides</option>
          {models.map(({ id, name, policyState }) => (
            <option key={id} value={id} disabled={policyState === 'disabled'}>
              {name}
            </option>
          ))}
        </select>
      </label>
      {model && chosen && (
        <ConfigForm
          legend="Settings of the model"
          schema={model.configSchema}
          values={chosen.config}
          onChange={(key, value) => onChoose({ id: model.id, config: { ...chosen.config, [key]: value } })}
        />
      )}
    </>
  )
}
