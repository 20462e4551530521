import { Socket } from 'node:net'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { PendingUpgrades, pendingUpgradeLimits } from './pending-upgrades.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** `count` pending sockets. */
function pendingWith(count: number) {
  const pending = new PendingUpgrades(pendingUpgradeLimits)
  const sockets = Array.from({ length: count }, () => addSocket(pending))
  return { pending, sockets }
}

function addSocket(pending: PendingUpgrades): Socket {
  const socket = new Socket()
  pending.add(socket, socket)
  return socket
}

test('[S-57 lobbySockets] at 256: all stay', () => {
  const { pending, sockets } = pendingWith(256)
  vi.advanceTimersByTime(2000)
  expect(sockets.some(({ destroyed }) => destroyed)).toBe(false)
  expect(pending.size).toBe(256)
})

test('[S-57 lobbySockets] past 256: the oldest is destroyed for each new one', () => {
  const { pending, sockets } = pendingWith(256)
  vi.advanceTimersByTime(2000)
  for (let n = 0; n < 44; n++) addSocket(pending)
  expect(sockets.map(({ destroyed }) => destroyed).lastIndexOf(true)).toBe(43)
  expect(sockets.filter(({ destroyed }) => destroyed)).toHaveLength(44)
  expect(pending.size).toBe(256)
})

test('[S-57 lobbyMomentMs] at 1,000: the oldest may be destroyed for a new one', () => {
  const { pending, sockets } = pendingWith(256)
  vi.advanceTimersByTime(1000)
  addSocket(pending)
  expect(sockets.filter(({ destroyed }) => destroyed)).toHaveLength(1)
})

test('[S-57 lobbyMomentMs] past 1,000: a younger socket is not destroyed, so all clients may connect at once (F-21)', () => {
  const { pending, sockets } = pendingWith(256)
  vi.advanceTimersByTime(999)
  for (let n = 0; n < 1000; n++) addSocket(pending)
  expect(sockets.some(({ destroyed }) => destroyed)).toBe(false)
  expect(pending.size).toBe(1256)
})

test('[S-57 lobbyCrowd] at 8,192: all young sockets stay', () => {
  expect(pendingWith(8192).sockets.some(({ destroyed }) => destroyed)).toBe(false)
})

test('[S-57 lobbyCrowd] past 8,192: the oldest is destroyed at once', () => {
  const { pending, sockets } = pendingWith(8193)
  expect(sockets.filter(({ destroyed }) => destroyed)).toHaveLength(1)
  expect([sockets[0]?.destroyed, pending.size]).toEqual([true, 8192])
})

test('[S-57 upgradeMs] at 5,000: a socket may be pending', () => {
  const { pending, sockets } = pendingWith(1)
  vi.advanceTimersByTime(4999)
  expect(sockets[0]?.destroyed).toBe(false)
  pending.remove(sockets[0] as Socket)
  vi.advanceTimersByTime(5000)
  expect(sockets[0]?.destroyed).toBe(false)
  expect(pending.size).toBe(0)
})

test('[S-57 upgradeMs] past 5,000: a pending socket is destroyed', () => {
  const { sockets } = pendingWith(2)
  vi.advanceTimersByTime(5000)
  expect(sockets.map(({ destroyed }) => destroyed)).toEqual([true, true])
})
