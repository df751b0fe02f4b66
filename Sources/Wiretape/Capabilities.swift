internal import ClientCapabilities
internal import Foundation
internal import TapeTrust

/// Which features of URLSession work on this machine, which do not, and which calls crash the process. Determined once, in this process.
///
/// Write `Wiretape.capabilities`. Does not cover mount namespaces: they need a separate process, which `wiretape doctor` starts.
public let capabilities = CapabilityReport(PlatformReading.facts())

/// Reads the facts for `CapabilityReport`, without starting a process.
enum PlatformReading {
    static func facts(environment: [String: String] = ProcessInfo.processInfo.environment) -> PlatformFacts {
        var facts = PlatformFacts(swift: self.release)
        #if os(Linux)
        facts.libcurl = CurlReading.facts()
        #endif
        facts.trustsAuthority = self.trustsAuthority(environment)
        return facts
    }

    /// The libcurl that URLSession uses in this process; nil on systems other than Linux, and if it is linked statically.
    static var libcurl: LibcurlFacts? {
        #if os(Linux)
        CurlReading.facts(isLoaded: true)
        #else
        nil
        #endif
    }

    /// The release of the compiler that built this, and of the libraries shipped with it.
    static var release: SwiftRelease {
        #if compiler(>=6.4)
        SwiftRelease(6, 4)
        #elseif compiler(>=6.3.3)
        SwiftRelease(6, 3, 3)
        #elseif compiler(>=6.3.2)
        SwiftRelease(6, 3, 2)
        #elseif compiler(>=6.3.1)
        SwiftRelease(6, 3, 1)
        #elseif compiler(>=6.3)
        SwiftRelease(6, 3)
        #elseif compiler(>=6.2)
        SwiftRelease(6, 2)
        #else
        SwiftRelease(6, 1)
        #endif
    }

    /// Whether the system's file of root certificates contains the recorder's authority; nil if either does not exist.
    static func trustsAuthority(_ environment: [String: String], roots: [String] = SystemRoots.files()) -> Bool? {
        guard let folder = AuthorityLocation.standard(environment: environment),
            let authority = self.contents(folder + "/" + AuthorityLocation.certificateName),
            let bundle = roots.lazy.compactMap({ self.contents($0) }).first
        else { return nil }
        return PEMCertificates.contains(bundle, authority)
    }

    /// The largest file that is read, in bytes; a bundle of roots has 0.2 MB.
    private static let sizeLimit = 16 << 20

    private static func contents(_ path: String) -> [UInt8]? {
        guard let size = try? FileManager.default.attributesOfItem(atPath: path)[.size] as? Int, size <= self.sizeLimit,
            let data = FileManager.default.contents(atPath: path)
        else { return nil }
        return Array(data)
    }
}
