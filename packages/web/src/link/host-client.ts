import { Client } from '@atrium/client/client'
import { openSocket } from '@atrium/client/link/websocket'
import { trusting } from '@atrium/client/shared/check'
import { newId, world } from '@atrium/client/shared/globals'
import { newTicket } from './entering.ts'

/** A client of the host that this page comes from. No other address is ever used (S-43). */
export function hostClient(): Client {
  const address = `${location.protocol === 'https:' ? 'wss' : 'ws'}://${location.host}/`
  return new Client({
    clientId: newId(),
    world,
    // The host and its page are built together, so its messages are not checked again.
    check: trusting,
    versions: ['1.0.0'],
    info: { name: 'atrium-web', title: browserName(), version: '0.1.0' },
    open: async () => {
      const protocols = ['atrium', `atrium.ticket.${await newTicket()}`]
      // `openSocket` passes only an address. The ticket goes into the subprotocols instead, because logs may keep
      // addresses.
      class TicketSocket extends WebSocket {
        constructor(url: string) {
          super(url, protocols)
        }
      }
      // The event types of the DOM's WebSocket differ from those of the client, which reads only common fields: hence
      // the cast.
      return openSocket(TicketSocket as never, address)
    },
  }).connect()
}

/** Returns the name of this page that others see, as in "Chrome on Linux". */
export function browserName(agent = navigator.userAgent): string {
  const browser = /Firefox/.test(agent)
    ? 'Firefox'
    : /Edg\//.test(agent)
      ? 'Edge'
      : /Chrome/.test(agent)
        ? 'Chrome'
        : /Safari/.test(agent)
          ? 'Safari'
          : 'Browser'
  const system = /Android/.test(agent)
    ? 'Android'
    : /iPhone|iPad/.test(agent)
      ? 'iOS'
      : /Mac/.test(agent)
        ? 'Mac'
        : /Windows/.test(agent)
          ? 'Windows'
          : 'Linux'
  return `${browser} on ${system}`
}
