// The view of runs.
export function show() {}
