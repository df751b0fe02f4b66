import TapeTLS

@testable import WiretapeCLI

/// An authority in a folder of its own, and what is wanted of it.
struct MadeAuthority {
    /// Seconds since 1970: noon of a day in 2026.
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

/// The message of what a body throws; nil where it throws nothing, or something else.
func trustProblem(_ body: () throws -> Void) -> String? {
    do {
        try body()
        return nil
    } catch { return (error as? TrustError)?.message }
}
