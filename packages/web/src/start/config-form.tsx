import type { ConfigSchema } from '@atrium/protocol/common/config'
import { ConfigField, isEditable } from './config-field.tsx'
import type { ConfigValue } from './config-field.tsx'

export type ConfigValues = { readonly [key: string]: unknown }

interface Props {
  readonly legend: string
  readonly schema: ConfigSchema | undefined
  readonly values: ConfigValues
  readonly onChange: (key: string, value: ConfigValue) => void
}

/** The settings that a schema of the host describes. Nothing, if it describes none. */
export function ConfigForm({ legend, schema, values, onChange }: Props) {
  const fields = Object.entries(schema?.properties ?? {}).filter(([, each]) => isEditable(each))
  if (fields.length === 0) return null
  return (
    <details class="settings">
      <summary>{legend}</summary>
      <div class="settings-fields">
        {fields.map(([name, each]) => (
          <ConfigField
            key={name}
            name={name}
            schema={each}
            value={values[name]}
            onChange={(value) => onChange(name, value)}
          />
        ))}
      </div>
    </details>
  )
}
