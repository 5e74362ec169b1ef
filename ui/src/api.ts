// Requests to the server that this page came from, and whether it can be reached.
//
// The token, if the server asks for one, lives in a variable: it is gone with the tab, and no other page
// can read it.

import type { Finding } from "./types"

export class Refused extends Error {
  constructor(readonly status: number, readonly code: string, detail: string, readonly findings: Finding[]) {
    super(detail)
  }
}

export const link = {
  isAway: false, // the last request found nobody
  needsToken: "", // why a token is asked for; empty: it is not
  onChange: (): void => {},
  onToken: (): void => {},
}
let token = ""

export function useToken(text: string): void {
  token = text
  link.needsToken = ""
  link.onChange()
  link.onToken()
}

// What the caller may do. Nothing until the server has said so: what it would refuse is not offered.
let scopes: string[] = []
export const may = (scope: "client" | "admin"): boolean => scopes.includes(scope) || scopes.includes("admin")
export async function loadAccess(): Promise<void> {
  scopes = (await get<{ scopes: string[] }>("/v1/access")).scopes
  link.onChange()
}
export const hasToken = (): boolean => token !== ""

function setAway(isAway: boolean): void {
  if (link.isAway === isAway) return
  link.isAway = isAway
  link.onChange()
}

function headers(): Record<string, string> {
  return token ? { Authorization: `Bearer ${token}` } : {}
}

async function send(method: string, path: string, body?: string, signal?: AbortSignal): Promise<Response> {
  const request: RequestInit = { method, headers: headers(), cache: "no-store", redirect: "error" }
  if (body !== undefined) request.body = body
  if (signal) request.signal = signal
  let answer: Response
  try {
    answer = await fetch(path, request)
  } catch (error) {
    if (!signal?.aborted) setAway(true)
    throw error
  }
  setAway(false)
  if (answer.ok) return answer
  const problem = await answer.json().catch(() => null) as { code?: string; detail?: string; findings?: Finding[] } | null
  const detail = problem?.detail ?? `The server answered ${answer.status}.`
  if (answer.status === 401) {
    link.needsToken = token ? "The server does not know this token." : "This server asks for a token."
    link.onChange()
  }
  throw new Refused(answer.status, problem?.code ?? "", detail, problem?.findings ?? [])
}

// Bodies are text as the caller wrote it: payloads are kept byte for byte.
export async function call<T>(method: string, path: string, body?: string): Promise<T> {
  const answer = await send(method, path, body)
  return (answer.status === 204 ? null : await answer.json()) as T
}
// An answer that is read while it comes.
export const stream = (path: string, signal: AbortSignal): Promise<Response> => send("GET", path, undefined, signal)
export const get = <T>(path: string): Promise<T> => call<T>("GET", path)

export const seg = encodeURIComponent
export const runPath = (id: string): string => `/v1/runs/${seg(id)}`

export function query(values: Record<string, string | number | boolean | undefined | null>): string {
  const given = Object.entries(values).filter(([, value]) => value !== undefined && value !== null && value !== "")
  return given.length ? `?${new URLSearchParams(given.map(([name, value]) => [name, String(value)]))}` : ""
}
