internal import CassetteRun
internal import Platform
internal import TapeBytes

/// The clock of a program that runs at the time of a recording: a library that the loader puts in front of the C library, and its variables.
///
/// The library is Wiretape's own, next to the executable, or libfaketime. Both move the time of day by a number of seconds, in the program
/// and in the programs that it starts. The monotonic clocks and the times of files stay.
struct RecordedClock: Hashable {
    /// The library's waits until a time of day tell such times from those of monotonic clocks by their size.
    private static let earliest: Int64 = 1_000_000_000 + 86_400
    private static let preload = "LD_PRELOAD"
    private static let passedOn = "WIRETAPE_PRELOAD"

    /// Where the program's clock starts, in seconds since 1970: not before the recording, since what it contains must not lie in the future.
    let start: Int64
    private let library: ClockLibrary

    /// A line for people; nil if there is nothing to say.
    var notice: String? {
        guard self.library.kind == .libfaketime else { return nil }
        return
            "the clock is moved by \"\(self.library.path)\": before libfaketime 0.9.11, some waits of such a program fail (time.sleep of Python) or end at once (Object.wait of Java). The packages of Wiretape have a library of their own."
    }

    /// Throws if the program's clock cannot be moved.
    ///
    /// - Parameters:
    ///   - start: of the recording; nil if nothing is recorded.
    ///   - program: as it is named on the command line.
    ///   - environment: this process's own.
    init(
        start: Timestamp?, cassette: String, program: String, environment: [String: String], places: ClockLibrary.Places = .system
    ) throws(SettingError) {
        #if os(Linux)
        guard let start else {
            throw SettingError(
                "clock: recorded needs a time, and \"\(cassette)\" has no exchange: record it again, or leave the clock real.")
        }
        let seconds = (start.microseconds + 999_999) / 1_000_000
        guard seconds > Self.earliest else {
            throw SettingError(
                "clock: recorded is for recordings after September 2001, and \"\(cassette)\" begins at \(start.formatted): leave the clock real, or correct \"started\" in the cassette."
            )
        }
        let outer = environment[Self.preload] ?? ""
        guard environment[ClockLibrary.ownVariable] == nil, !outer.contains("libfaketime"), environment["FAKETIME"] == nil else {
            throw SettingError(
                "the clock of this run is moved already (\(Self.preload) is \"\(outer)\"): leave out --clock recorded in one of the two runs."
            )
        }
        guard let library = ClockLibrary.find(places) else {
            throw SettingError(
                "--clock recorded needs a library that moves a program's clock: neither \(ClockLibrary.ownName) next to wiretape nor libfaketime was found. Install libfaketime (\"apt install faketime\", \"dnf install libfaketime\", \"apk add libfaketime\"), or use a package of Wiretape."
            )
        }
        // The loader splits the variable there (ld.so(8)).
        guard !library.path.contains(where: { $0 == " " || $0 == ":" }) else {
            throw SettingError(
                "the library \"\(library.path)\" cannot be loaded into programs, because its path contains a space or a colon: move it.")
        }
        if let problem = ProgramImage.clockProblem(of: program) {
            throw SettingError("--clock recorded: \(problem) Run it without --clock, and give it the time in WIRETAPE_RECORDED_AT.")
        }
        self.start = seconds
        self.library = library
        #else
        throw SettingError(
            "--clock recorded works on Linux only, where the loader can move a program's clock: give the program the time in WIRETAPE_RECORDED_AT."
        )
        #endif
    }

    /// Moves the clock of a program that starts now with `environment`, and of the programs that it starts.
    ///
    /// - Parameters:
    ///   - isEntered: the program is started by this one in its other role (`NamespaceEntry`), whose own clock stays: with libfaketime, it
    ///     would crash.
    ///   - now: seconds since 1970.
    func apply(to environment: inout [String: String], isEntered: Bool, now: Int64 = Int64(time(nil))) {
        for (name, value) in self.library.variables(offset: self.start - now) { environment[name] = value }
        let others = (environment[Self.preload] ?? "").split { $0 == " " || $0 == ":" }.map(String.init)
        environment[isEntered ? Self.passedOn : Self.preload] = ([self.library.path] + others).joined(separator: ":")
    }

    /// Sets the loader's variable for the program that this process becomes.
    static func passOn() {
        guard let value = getenv(Self.passedOn) else { return }
        setenv(Self.preload, value, 1)
        unsetenv(Self.passedOn)
    }
}

/// A library that moves the clock of a program that loads it.
struct ClockLibrary: Hashable {
    enum Kind: Hashable { case own, libfaketime }

    /// Where libraries are looked for.
    struct Places {
        /// The folder of the executable; nil if unknown.
        var executableFolder: String?
        /// Folders that may contain `faketime/libfaketimeMT.so.1`.
        var folders: [String]
        /// The program `faketime`, which is two folders below those of libraries; nil if there is none.
        var faketime: String?
    }

    static let ownName = "libwiretape-clock.so"
    /// The seconds, for our own library (Sources/CRecordedClock).
    static let ownVariable = "WIRETAPE_CLOCK_OFFSET"
    /// The one that also moves what programs with threads wait for.
    private static let name = "faketime/libfaketimeMT.so.1"

    let kind: Kind
    let path: String

    static func find(_ places: Places) -> Self? {
        if let folder = places.executableFolder {
            for path in ["\(folder)/\(self.ownName)", "\(folder)/../lib/wiretape/\(self.ownName)"] where access(path, R_OK) == 0 {
                return Self(kind: .own, path: Self.resolved(path))
            }
        }
        var folders = places.folders
        // Installed under another prefix, as by Nix: its libraries are next to it.
        if let program = places.faketime.map(Self.resolved), let prefix = Self.parent(program).flatMap(Self.parent) {
            folders += ["\(prefix)/lib", "\(prefix)/lib64"]
        }
        return folders.map { "\($0)/\(self.name)" }.first { (path: String) in access(path, R_OK) == 0 }
            .map { Self(kind: .libfaketime, path: $0) }
    }

    /// - Parameter offset: in seconds.
    func variables(offset: Int64) -> [(name: String, value: String)] {
        switch self.kind {
        case .own: return [(Self.ownVariable, "\(offset)")]
        case .libfaketime:
            return [
                // Whole seconds, since a fraction is written as the locale of the program says.
                ("FAKETIME", offset < 0 ? "\(offset)" : "+\(offset)"),
                // Programs measure with it, and moved, it would be negative. The second name is that of older versions.
                ("FAKETIME_DONT_FAKE_MONOTONIC", "1"), ("DONT_FAKE_MONOTONIC", "1"),
                ("NO_FAKE_STAT", "1"),
                // Each process would make a block of shared memory, and a killed one would leave it.
                ("FAKETIME_DISABLE_SHM", "1"),
            ]
        }
    }

    private static func resolved(_ path: String) -> String {
        guard let real = realpath(path, nil) else { return path }
        defer { free(real) }
        return String(cString: real)
    }

    private static func parent(_ path: String) -> String? { path.lastIndex(of: "/").map { String(path[..<$0]) } }
}

extension ClockLibrary.Places {
    static var system: Self {
        var buffer = [CChar](repeating: 0, count: 4096)
        let count = readlink("/proc/self/exe", &buffer, buffer.count - 1)
        let executable = count > 0 ? String(decoding: buffer.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self) : nil
        #if arch(x86_64)
        let machine = "x86_64"
        #else
        let machine = "aarch64"
        #endif
        return Self(
            executableFolder: executable.flatMap { path in path.lastIndex(of: "/").map { String(path[..<$0]) } },
            folders: ["/usr/lib/\(machine)-linux-gnu", "/usr/lib64", "/usr/lib", "/usr/local/lib", "/usr/local/lib64"],
            faketime: ProgramSearch.file("faketime"))
    }
}
