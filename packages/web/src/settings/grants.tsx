import { member, textMember } from '../link/member.ts'
import { pathIn } from '../sessions/grouping.ts'
import { Button } from '../ui/button.tsx'
import { Row, Section } from './row.tsx'

interface Props {
  /** The settings of the host by key. */
  readonly values: { readonly [key: string]: unknown }
  readonly onChange: (key: string, value: unknown) => void
}

const grantsKey = 'atrium.grants'
const permissionsKey = 'atrium.permissions'

/** The folders and tools that need no question: all of them last until they are revoked. */
export function Grants({ values, onChange }: Props) {
  const grants = listIn(values[grantsKey])
  const permissions = listIn(values[permissionsKey])
  const without = (key: string, all: readonly unknown[], gone: unknown) => () =>
    onChange(
      key,
      all.filter((each) => each !== gone),
    )
  return (
    <Section title="Permissions">
      {grants.map((grant, at) => {
        const path = pathIn(textMember(grant, 'uri') ?? '')
        return (
          <Row
            key={`grant ${at}`}
            title={path}
            about={`All agents may ${member(grant, 'write') === true ? 'read and change' : 'read'} files there.`}
            command={`atrium revoke ${path}`}
          >
            <Button look="danger" onClick={without(grantsKey, grants, grant)}>
              Revoke
            </Button>
          </Row>
        )
      })}
      {permissions.map((permission, at) => {
        const folder = textMember(permission, 'folder')
        return (
          <Row
            key={`permission ${at}`}
            title={textMember(permission, 'tool') ?? ''}
            about={`Runs without asking ${folder === undefined ? 'everywhere' : `in ${pathIn(folder)}`}.`}
            command={`atrium revoke ${(textMember(permission, 'id') ?? '').slice(0, 8)}`}
          >
            <Button look="danger" onClick={without(permissionsKey, permissions, permission)}>
              Revoke
            </Button>
          </Row>
        )
      })}
      {grants.length + permissions.length === 0 && (
        <Row
          title="Nothing runs without a question"
          about="Tools that are always allowed in a folder, and folders that are granted, are listed here."
          command="atrium grant"
        />
      )}
    </Section>
  )
}

function listIn(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}
