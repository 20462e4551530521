import type { ConfigPropertySchema } from '@atrium/protocol/common/config'

export type ConfigValue = string | number | boolean | null

interface Props {
  readonly name: string
  readonly schema: ConfigPropertySchema
  readonly value: unknown
  readonly onChange: (value: ConfigValue) => void
}

/** Whether the page has a field for a setting. Lists and nested settings stay as the host has set them. */
export function isEditable({ type, readOnly, enum: values }: ConfigPropertySchema): boolean {
  return !readOnly && (values !== undefined || type === 'string' || type === 'number' || type === 'boolean')
}

/** One setting of a model or of a session. */
export function ConfigField({ name, schema, value, onChange }: Props) {
  const current = value ?? schema.default
  if (schema.enum) return <ChoiceField name={name} schema={schema} value={current} onChange={onChange} />
  if (schema.type === 'boolean')
    return (
      <label class="check" title={schema.description}>
        <input
          type="checkbox"
          checked={current === true}
          onChange={(event) => onChange(event.currentTarget.checked)}
        />
        <span>{schema.title}</span>
      </label>
    )
  const numeric = schema.type === 'number'
  const shown = typeof current === 'string' || typeof current === 'number' ? current : ''
  return (
    <label class="field">
      <span>{schema.title}</span>
      {numeric ? (
        <input
          type="number"
          value={shown}
          onInput={({ currentTarget }) => onChange(currentTarget.valueAsNumber)}
        />
      ) : (
        <input type="text" value={shown} onInput={({ currentTarget }) => onChange(currentTarget.value)} />
      )}
      {schema.description !== undefined && <small>{schema.description}</small>}
    </label>
  )
}

function ChoiceField({ schema, value, onChange }: Props) {
  const { enum: values = [], enumLabels = [], title, description } = schema
  return (
    <label class="field">
      <span>{title}</span>
      <select
        value={String(values.findIndex((each) => each === value))}
        onChange={(event) => onChange(values[Number(event.currentTarget.value)] ?? null)}
      >
        {values.map((each, at) => (
          <option key={at} value={String(at)}>
            {enumLabels[at] ?? String(each)}
          </option>
        ))}
      </select>
      {description !== undefined && <small>{description}</small>}
    </label>
  )
}
