import type { Client } from '@atrium/client/client'
import type { Device } from '@atrium/protocol/root/device'
import { rootUri } from '@atrium/protocol/uri'
import { useCallback, useEffect, useState } from 'preact/hooks'
import { askExtension, offers } from '../link/extension.ts'
import { ownMember, textMember } from '../link/member.ts'
import { failedRequest, failureWords } from '../link/outcome-words.ts'
import type { Role } from '../link/role.ts'
import { Button } from '../ui/button.tsx'
import { Copy } from '../ui/copy.tsx'
import { Row, Section } from './row.tsx'

interface Props {
  readonly client: Client
  readonly say: (text: string) => void
}

/** The rights of each role, in words. */
const rights: { readonly [R in Role]: string } = {
  watch: 'see everything, and change nothing',
  prompt: 'also send messages to agents',
  approve: 'also approve what agents want to do',
  own: 'do everything',
}

/** The devices that may connect to the host: each can be revoked, and a link lets another one in. */
export function Devices({ client, say }: Props) {
  const [devices, setDevices] = useState<readonly Device[]>()
  const read = useCallback(() => {
    // The answer is not checked: a host of the same build answers in this shape.
    const asked = askExtension(client, 'x-atrium/devices', { channel: rootUri }) as Promise<{
      readonly devices: readonly Device[]
    }>
    asked.then(
      ({ devices: found }) => setDevices(found),
      (error: unknown) => say(`The devices could not be read: ${failedRequest(error).reason}`),
    )
  }, [client, say])
  useEffect(read, [read])
  if (!offers(client, 'x-atrium/devices')) return null
  const own = textMember(ownMember(client.host, 'device'), 'id')
  const revoke = ({ id, name }: Device) =>
    askExtension(client, 'x-atrium/revokeDevice', { channel: rootUri, id }).then(read, (error: unknown) =>
      say(failureWords(failedRequest(error), `${name} was not revoked`, `${name} was revoked`)),
    )
  return (
    <Section title="Devices">
      {devices?.map((device) => (
        <Row
          key={device.id}
          title={device.name}
          about={`May ${rights[device.role]}. ${device.seenAt === undefined ? 'Never seen' : `Last seen ${new Date(device.seenAt).toLocaleString()}`}.`}
          command={device.id === own ? 'atrium devices' : `atrium devices revoke ${quoted(device.name)}`}
        >
          <span class="tag">{device.id === own ? 'this browser' : device.role}</span>
          {device.id !== own && (
            <Button look="danger" onClick={() => void revoke(device)}>
              Revoke
            </Button>
          )}
        </Row>
      ))}
      <NewDevice client={client} say={say} onDone={read} />
    </Section>
  )
}

function NewDevice({ client, say, onDone }: Props & { readonly onDone: () => void }) {
  const [name, setName] = useState('')
  const [role, setRole] = useState<Role>('approve')
  const [link, setLink] = useState<string>()
  const add = async () => {
    try {
      const made = await askExtension(client, 'x-atrium/pairDevice', { channel: rootUri, name, role })
      setLink(`${location.origin}/#code=${textMember(made, 'code') ?? ''}`)
      setName('')
    } catch (error) {
      say(failureWords(failedRequest(error), 'The device was not added', 'a code was made'))
    }
  }
  const shown = name.trim() === '' ? 'NAME' : name.trim()
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        void add()
      }}
    >
      <Row
        title="Another device"
        about={
          link === undefined
            ? 'A link lets one device in, once.'
            : 'Open this link on the device. It is valid once, for some minutes.'
        }
        command={`atrium devices add ${quoted(shown)} --role ${role}`}
      >
        {link === undefined ? (
          <>
            <input
              type="text"
              aria-label="Name of the device"
              placeholder="Name"
              maxLength={64}
              value={name}
              onInput={({ currentTarget }) => setName(currentTarget.value)}
            />
            <select
              aria-label="Role of the device"
              value={role}
              onChange={({ currentTarget }) => setRole(roleIn(currentTarget.value))}
            >
              {(['watch', 'prompt', 'approve', 'own'] as const).map((each) => (
                <option key={each} value={each}>
                  {each}: {rights[each]}
                </option>
              ))}
            </select>
            <Button submit disabled={name.trim() === ''}>
              Make a link
            </Button>
          </>
        ) : (
          <>
            <code class="pairing">{link}</code>
            <Copy text={link} label="Copy the link" />
            <Button
              onClick={() => {
                setLink(undefined)
                onDone()
              }}
            >
              Done
            </Button>
          </>
        )}
      </Row>
    </form>
  )
}

/** Puts a name into quotes if a shell needs them, so that people can paste the command into a terminal. */
function quoted(name: string): string {
  return /^[\w.-]+$/.test(name) ? name : `'${name.replaceAll("'", `'\\''`)}'`
}

function roleIn(text: string): Role {
  return text === 'watch' || text === 'prompt' || text === 'own' ? text : 'approve'
}
