internal import ClientCapabilities
internal import Foundation
internal import TapeTrust

/// What of URLSession works on this machine, what does not, and which calls end the process: read once, in this process.
///
/// Written `Wiretape.capabilities`. Of a mount namespace it says nothing: that takes a process of its own, as `wiretape doctor` starts.
public let capabilities = CapabilityReport(PlatformReading.facts())

/// Reads what `CapabilityReport` judges, without a process of its own.
enum PlatformReading {
    static func facts(environment: [String: String] = ProcessInfo.processInfo.environment) -> PlatformFacts {
        var facts = PlatformFacts(swift: self.release)
        #if os(Linux)
        facts.libcurl = CurlReading.facts()
        #endif
        facts.trustsAuthority = self.trustsAuthority(environment)
        return facts
    }

    /// Of the compiler that built this; the libraries it runs with come with it.
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

    /// Whether the system's file of roots has the recorder's authority in it; nil where one of them is not there.
    static func trustsAuthority(_ environment: [String: String], roots: [String] = SystemRoots.files()) -> Bool? {
        guard let folder = AuthorityLocation.standard(environment: environment),
            let authority = self.contents(folder + "/" + AuthorityLocation.certificateName),
            let bundle = roots.lazy.compactMap({ self.contents($0) }).first
        else { return nil }
        return PEMCertificates.contains(bundle, authority)
    }

    /// A bundle of roots has 0.2 MB.
    private static let sizeLimit = 16 << 20

    private static func contents(_ path: String) -> [UInt8]? {
        guard let size = try? FileManager.default.attributesOfItem(atPath: path)[.size] as? Int, size <= self.sizeLimit,
            let data = FileManager.default.contents(atPath: path)
        else { return nil }
        return Array(data)
    }
}
