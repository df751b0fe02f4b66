/// A value that a run was given, and who gave it.
public struct Setting<Value: Sendable & Hashable>: Sendable, Hashable {
    public var value: Value
    public var source: SettingSource

    public init(value: Value, source: SettingSource) {
        self.value = value
        self.source = source
    }
}
