internal import Platform

/// What is known about a machine and its toolchain, for `CapabilityReport`. Nil means unknown.
public struct PlatformFacts: Sendable, Hashable {
    public enum System: String, Sendable, CaseIterable {
        case linux, macOS, iOS
    }

    public var system: System
    public var swift: SwiftRelease?
    /// Only on Linux; on other platforms, URLSession does not use libcurl.
    public var libcurl: LibcurlFacts?
    /// Whether a program can run in its own mount namespace.
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
    /// The system of this build.
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

/// What the libcurl that URLSession uses on Linux reports about itself.
public struct LibcurlFacts: Sendable, Hashable {
    /// Such as `7.88.1`.
    public var version: String
    /// URL schemes in lower case, such as `http`, `https`, `ws`.
    public var protocols: Set<String>
    public var hasHTTP2: Bool
    /// The content codings that it decodes (RFC 9110, 8.4.1): some of `br`, `deflate`, `gzip` and `zstd`.
    public var contentCodings: Set<String>

    public init(version: String, protocols: Set<String>, hasHTTP2: Bool, contentCodings: Set<String> = ["deflate", "gzip"]) {
        self.version = version
        self.protocols = protocols
        self.hasHTTP2 = hasHTTP2
        self.contentCodings = contentCodings
    }
}

/// Reads the version of the system's libcurl, which FoundationNetworking is linked with.
///
/// Loads it at run time, because this package is not linked with it.
package enum CurlReading {
    package static let names = ["libcurl.so.4", "libcurl-gnutls.so.4"]

    /// Nil if there is no libcurl, or if its answer cannot be read.
    ///
    /// - Parameter isLoaded: whether to use only a libcurl that is already loaded, as `URLSession` may not be using any other.
    package static func facts(names: [String] = Self.names, isLoaded: Bool = false) -> LibcurlFacts? {
        for name in names {
            let flags = RTLD_LAZY | RTLD_LOCAL | (isLoaded ? RTLD_NOLOAD : 0)
            guard let library = dlopen(name, flags), let symbol = dlsym(library, "curl_version_info") else { continue }
            // SAFETY: the signature is curl_version_info_data *curl_version_info(CURLversion); 0 requests the members that every release
            // has.
            let versionInfo = unsafeBitCast(symbol, to: (@convention(c) (Int32) -> UnsafeRawPointer?).self)
            if let facts = versionInfo(0).flatMap(Self.facts) { return facts }
        }
        return nil
    }

    /// Reads `struct curl_version_info_data` of curl/curl.h in its 64-bit layout, to which new members are only appended.
    private static func facts(at data: UnsafeRawPointer) -> LibcurlFacts? {
        guard MemoryLayout<Int>.size == 8, let version = Self.text(data.load(fromByteOffset: 8, as: UnsafePointer<CChar>?.self)) else {
            return nil
        }
        let features = data.load(fromByteOffset: 32, as: Int32.self)
        var protocols: Set<String> = []
        var next = data.load(fromByteOffset: 64, as: UnsafePointer<UnsafePointer<CChar>?>?.self)
        // The list ends with a null pointer; libcurl has about thirty entries.
        while let name = Self.text(next?.pointee), protocols.count < 256 {
            protocols.insert(name.lowercased())
            next = next?.advanced(by: 1)
        }
        // CURL_VERSION_HTTP2, CURL_VERSION_LIBZ, CURL_VERSION_BROTLI, CURL_VERSION_ZSTD.
        func has(_ bit: Int32) -> Bool { features & (1 << bit) != 0 }
        let codings = (has(3) ? ["deflate", "gzip"] : []) + (has(23) ? ["br"] : []) + (has(26) ? ["zstd"] : [])
        return LibcurlFacts(version: version, protocols: protocols, hasHTTP2: has(16), contentCodings: Set(codings))
    }

    private static func text(_ pointer: UnsafePointer<CChar>?) -> String? { pointer.map { String(cString: $0) } }
}

/// A release of Swift such as `6.3.1`, which on Linux is also the release of FoundationNetworking.
public struct SwiftRelease: Sendable, Hashable, Comparable, CustomStringConvertible {
    public var major: Int
    public var minor: Int
    public var patch: Int

    public init(_ major: Int, _ minor: Int, _ patch: Int = 0) {
        self.major = major
        self.minor = minor
        self.patch = patch
    }

    /// The first number with a dot in a text such as `Swift version 6.3.1 (swift-6.3.1-RELEASE)`; nil if there is none.
    public init?(_ text: some StringProtocol) {
        for word in text.split(whereSeparator: { !$0.isNumber && $0 != "." }) {
            let numbers = word.split(separator: ".", omittingEmptySubsequences: false).prefix(3).map { Int($0) }
            guard numbers.count >= 2, let major = numbers[0], let minor = numbers[1] else { continue }
            self.init(major, minor, numbers.count > 2 ? numbers[2] ?? 0 : 0)
            return
        }
        return nil
    }

    public static func < (left: Self, right: Self) -> Bool {
        (left.major, left.minor, left.patch) < (right.major, right.minor, right.patch)
    }

    public var description: String {
        self.patch == 0 ? "\(self.major).\(self.minor)" : "\(self.major).\(self.minor).\(self.patch)"
    }
}

/// The releases of Swift that something applies to.
public struct SwiftReleaseRange: Sendable, Hashable, CustomStringConvertible {
    /// The first release; nil for all before `end`.
    public var start: SwiftRelease?
    /// The first release after the range; nil if none is known.
    public var end: SwiftRelease?

    public init(from start: SwiftRelease? = nil, before end: SwiftRelease? = nil) {
        self.start = start
        self.end = end
    }

    public static let all = Self()

    /// - Parameter release: the release; every range contains an unknown one (nil).
    public func contains(_ release: SwiftRelease?) -> Bool {
        guard let release else { return true }
        return self.start.map { release >= $0 } ?? true && self.end.map { release < $0 } ?? true
    }

    public var description: String {
        switch (self.start, self.end) {
        case (nil, nil): "all known releases of Swift"
        case (let start?, nil): "Swift \(start) and later"
        case (nil, let end?): "Swift before \(end)"
        case (let start?, let end?): "Swift \(start) up to \(end), which is without it"
        }
    }
}
