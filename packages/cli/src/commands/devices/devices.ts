import type { Client } from '@atrium/client/client'
import { deviceIn, deviceRevoked, roles } from '@atrium/protocol/root/device'
import type { Device, Role } from '@atrium/protocol/root/device'
import { LinkClosed } from '@atrium/protocol/rpc/peer'
import { addressOf } from '../../link/connect.ts'
import type { HostOptions } from '../../link/connect.ts'
import { askExtension } from '../../link/extension.ts'
import { withClient } from '../../link/with-client.ts'
import { printList } from '../../render/table.ts'
import { isLoopback, isWildcard } from '../../serve/reachable-url.ts'
import { CommandError, exits, sentenceOf } from '../../terminal/exit.ts'
import { onOneLine, output } from '../../terminal/output.ts'
import type { OutputOptions } from '../../terminal/output.ts'

interface Flags extends HostOptions, OutputOptions {
  readonly role?: string
}

/** `atrium devices`: lists the devices of the host, adds one, or revokes one. */
export function devices(action = 'ls', name: string | undefined, flags: Flags): Promise<void> {
  const run = actions.get(action)
  if (!run) throw new CommandError(`devices ${action}: use ls, add NAME or revoke NAME instead.`, exits.usage)
  return run(name, flags)
}

type Action = (name: string | undefined, flags: Flags) => Promise<void>

const actions: ReadonlyMap<string, Action> = new Map<string, Action>([
  ['ls', (_, flags) => list(flags)],
  ['add', (name, flags) => add(named(name, 'add'), flags)],
  ['revoke', (name, flags) => revoke(named(name, 'revoke'), flags)],
])

function list(flags: Flags): Promise<void> {
  return withClient(flags, async (client) => {
    const all = await devicesOf(client)
    printList(output(flags), all, {
      document: (device) => device,
      row: ({ name, role, pairedAt, seenAt }) => [
        onOneLine(name),
        role,
        `paired ${pairedAt.slice(0, 10)}`,
        seenAt === undefined ? 'never seen' : `seen ${seenAt.slice(0, 10)}`,
      ],
      empty:
        'There are no devices; only clients with the token of the host connect. Add one with: atrium devices add NAME',
    })
  })
}

function add(name: string, flags: Flags): Promise<void> {
  const role = roleIn(flags.role ?? 'prompt')
  return withClient(flags, async (client) => {
    // The answer is not checked: a host of the same build answers in this shape.
    const { code, seconds } = (await askExtension(client, 'x-atrium/pairDevice', { name, role })) as {
      readonly code: string
      readonly seconds: number
    }
    const { url } = await addressOf(flags)
    output(flags).print({ code, seconds, name, role, url }, () =>
      [
        `The code for the device "${onOneLine(name)}" is ${code}. It is valid once, for ${seconds / 60} minutes.`,
        ...pairingLines(new URL(url), code),
        `Its role is ${role}: it may ${rights[role]}.`,
      ].join('\n'),
    )
  })
}

/** The command to type on the other device, and what to do if that device cannot reach the address of the host. */
function pairingLines(url: URL, code: string): readonly string[] {
  const command = (address: string) => `On that device, run: atrium pair ${address} ${code}`
  if (!/^wss?:$/.test(url.protocol) || isWildcard(url))
    return [
      command('URL'),
      'URL is the address at which that device reaches this host. docs/remote.md shows how to get one.',
    ]
  if (!isLoopback(url)) return [command(url.origin)]
  // The command is right for a device that reaches the host through a tunnel, for example of SSH.
  return [
    command(url.origin),
    `Only this machine reaches ${url.hostname}. docs/remote.md shows how others do.`,
  ]
}

function revoke(name: string, flags: Flags): Promise<void> {
  return withClient(flags, async (client) => {
    const all = await devicesOf(client)
    const device = all.find((each) => each.name === name) ?? all.find(({ id }) => id === name)
    if (!device) {
      const names = all.map((each) => onOneLine(each.name)).join(', ') || 'none'
      throw new CommandError(`There is no device '${onOneLine(name)}'; there are: ${names}.`, exits.usage)
    }
    await revokeOne(client, device)
    output(flags).report(device, () => `Revoked: ${onOneLine(device.name)}. Its connections are closed.`)
  })
}

async function revokeOne(client: Client, { id }: Device): Promise<void> {
  const { closed } = await client.live()
  const isOwn = client.host !== undefined && deviceIn(client.host)?.id === id
  await askExtension(client, 'x-atrium/revokeDevice', { id }).catch((error: unknown) => {
    // The host closes all links of the device. If this link is one of them, the reason of its end is the answer.
    const isRevoked = error instanceof LinkClosed && sentenceOf(closed.reason) === deviceRevoked
    if (!isOwn || !isRevoked) throw error
  })
}

const rights: { readonly [R in Role]: string } = {
  watch: 'see everything, and change nothing',
  prompt: 'also send messages to agents',
  approve: 'also approve what agents want to do, and answer their questions',
  own: 'do everything that the token of the host allows',
}

function roleIn(text: string): Role {
  const role = roles.find((each) => each === text)
  if (role === undefined)
    throw new CommandError(`--role must be one of ${roles.join(', ')}, and not '${text}'.`, exits.usage)
  return role
}

function named(name: string | undefined, action: string): string {
  if (name === undefined)
    throw new CommandError(
      `devices ${action} needs the name of a device; write: atrium devices ${action} NAME`,
      exits.usage,
    )
  return name
}

async function devicesOf(client: Client): Promise<readonly Device[]> {
  // The answer is not checked: a host of the same build answers in this shape.
  const { devices: all } = (await askExtension(client, 'x-atrium/devices', {})) as {
    devices: readonly Device[]
  }
  return all
}
