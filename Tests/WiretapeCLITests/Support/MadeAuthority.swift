import TapeTLS

@testable import WiretapeCLI

/// An authority in its own folder, and the tests' expectations of it.
struct MadeAuthority {
    /// Seconds since 1970: noon on a day in 2026.
    static let now: Int64 = 1_795_262_400

    let certificateFile: String
    let keyFile: String
    let pem: [UInt8]

    init(in folder: String) throws {
        let files = AuthorityFiles(folder: folder)
        self.pem = try files.loadOrCreate(now: Self.now).certificatePEM()
        self.certificateFile = files.certificatePath
        self.keyFile = files.keyPath
    }
}

/// The message of the error that a body throws; nil if it throws nothing, or another error.
func trustProblem(_ body: () throws -> Void) -> String? {
    do {
        try body()
        return nil
    } catch { return (error as? TrustError)?.message }
}
