// The view of data.
export function show() {}
