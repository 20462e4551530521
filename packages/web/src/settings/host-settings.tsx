import type { ConfigSchema } from '@atrium/protocol/common/config'
import type { AgentInfo } from '@atrium/protocol/root/state'
import { textMember } from '../link/member.ts'
import { Row, Section } from './row.tsx'

interface Props {
  readonly schema: ConfigSchema | undefined
  readonly values: { readonly [key: string]: unknown }
  readonly agents: readonly AgentInfo[]
  readonly onChange: (key: string, value: unknown) => void
}

const agentKey = 'atrium.defaultProvider'
/** Settings that have a section of their own. */
const elsewhere = new Set(['atrium.grants', 'atrium.permissions'])

/** The settings of the host: those with a field here, and the values of the others with the command that changes them. */
export function HostSettings({ schema, values, agents, onChange }: Props) {
  const all = Object.entries(schema?.properties ?? {}).filter(([key]) => !elsewhere.has(key))
  return (
    <Section title="Host">
      {all.map(([key, { title, description }]) => (
        <Row
          key={key}
          title={title}
          about={description}
          command={`atrium config ${key.replace(/^atrium\./, '')} VALUE`}
        >
          {key === agentKey ? (
            <select
              aria-label={title}
              value={textMember(values, key) ?? ''}
              onChange={({ currentTarget }) =>
                onChange(key, currentTarget.value === '' ? null : currentTarget.value)
              }
            >
              <option value="">The first that is ready</option>
              {agents.map(({ provider, displayName }) => (
                <option key={provider} value={provider}>
                  {displayName}
                </option>
              ))}
            </select>
          ) : (
            <code class="settings-value">
              {values[key] === undefined ? 'not set' : JSON.stringify(values[key])}
            </code>
          )}
        </Row>
      ))}
    </Section>
  )
}
