/// What was read of a machine and its toolchain, for `CapabilityReport` to judge. Nil is what nobody could read.
public struct PlatformFacts: Sendable, Hashable {
    public enum System: String, Sendable, CaseIterable {
        case linux, macOS, iOS
    }

    public var system: System
    public var swift: SwiftRelease?
    /// Linux alone: elsewhere URLSession is not built on it.
    public var libcurl: LibcurlFacts?
    /// Whether a program can be given a mount namespace of its own.
    public var permitsNamespace: Bool?
    /// Whether the recorder's authority is among the roots that the system trusts.
    public var trustsAuthority: Bool?

    public init(
        system: System = .current, swift: SwiftRelease? = nil, libcurl: LibcurlFacts? = nil, permitsNamespace: Bool? = nil,
        trustsAuthority: Bool? = nil
    ) {
        self.system = system
        self.swift = swift
        self.libcurl = libcurl
        self.permitsNamespace = permitsNamespace
        self.trustsAuthority = trustsAuthority
    }
}

extension PlatformFacts.System {
    /// The one that this was built for.
    public static var current: Self {
        #if os(macOS)
        .macOS
        #elseif os(iOS)
        .iOS
        #else
        .linux
        #endif
    }
}
