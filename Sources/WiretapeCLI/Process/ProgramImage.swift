#if os(Linux)
internal import Platform

/// The kind of a program's file, as the kernel and the loader read it: an ELF image, or a script with its interpreter.
enum ProgramImage: Hashable {
    /// - Parameters:
    ///   - loader: the dynamic loader, such as `/lib64/ld-linux-x86-64.so.2`; nil for a static program.
    ///   - isGo: compiled by Go, whose programs ask the kernel for the time, not the C library.
    case elf(loader: String?, isGo: Bool)
    /// The words after `#!`.
    case script([String])
    case other

    /// Of a script that is started by a script: the kernel follows four.
    private static let depth = 4
    /// The headers of a program and its first notes are in its first page, or close to it.
    private static let limit = 64 << 10

    init(file: String) {
        guard let bytes = Self.head(of: file) else {
            self = .other
            return
        }
        if bytes.starts(with: Array("#!".utf8)) {
            let line = bytes.dropFirst(2).prefix { $0 != 10 }
            self = .script(String(decoding: line, as: UTF8.self).split { $0 == " " || $0 == "\t" || $0 == "\r" }.map(String.init))
        } else {
            self = Self.elf(bytes) ?? .other
        }
    }

    /// Why a library cannot move the clock of a program, as a sentence; nil if it can, as far as the file says.
    ///
    /// - Parameter name: as on the command line.
    static func clockProblem(of name: String, own: ProgramImage = ProgramImage(file: "/proc/self/exe")) -> String? {
        var name = name
        for _ in 0...Self.depth {
            guard let file = ProgramSearch.file(name) else { return nil }
            switch ProgramImage(file: file) {
            case .other: return nil
            case .script(let words):
                guard let next = Self.program(of: words) else { return nil }
                name = next
            case .elf(_, isGo: true):
                return "\"\(file)\" is written in Go. Such programs ask the kernel for the time, so their clock cannot be moved."
            case .elf(loader: nil, _):
                return "\"\(file)\" uses no shared libraries (it is linked statically), so its clock cannot be moved."
            case .elf(loader: let loader?, _):
                // The library is for the C library of this program.
                guard case .elf(loader: let expected?, _) = own, Self.name(loader) != Self.name(expected) else { return nil }
                return "\"\(file)\" uses another C library (\"\(loader)\") than wiretape, so its clock cannot be moved."
            }
        }
        return nil
    }

    private static func name(_ path: String) -> Substring { path.split(separator: "/").last ?? "" }

    /// The program that interprets a script: behind `env`, the first word that is neither an option nor a variable.
    private static func program(of words: [String]) -> String? {
        guard let first = words.first else { return nil }
        guard self.name(first) == "env" else { return first }
        return words.dropFirst().first { !$0.hasPrefix("-") && !$0.contains("=") }
    }

    private static func head(of file: String) -> [UInt8]? {
        let descriptor = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: Self.limit)
        let count = pread(descriptor, &bytes, bytes.count, 0)
        return count > 0 ? Array(bytes.prefix(count)) : nil
    }

    /// Reads the program headers of a 64-bit little-endian image (System V ABI, chapter 5); nil if it is something else.
    private static func elf(_ bytes: [UInt8]) -> Self? {
        func number(_ offset: Int, _ size: Int) -> Int? {
            guard offset >= 0, offset + size <= bytes.count else { return nil }
            let value = bytes[offset..<offset + size].reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            return Int(exactly: value)
        }
        guard bytes.starts(with: [0x7F, 0x45, 0x4C, 0x46, 2, 1]), let table = number(32, 8), let size = number(54, 2),
            let count = number(56, 2), table < bytes.count, size >= 56
        else { return nil }
        var (loader, isGo): (String?, Bool) = (nil, false)
        for index in 0..<count {
            let header = table + index * size
            guard let type = number(header, 4), let start = number(header + 8, 8), let length = number(header + 32, 8),
                start < bytes.count, length <= bytes.count - start
            else { continue }
            let content = bytes[start..<start + length]
            switch type {
            // PT_INTERP
            case 3: loader = String(decoding: content.prefix { $0 != 0 }, as: UTF8.self)
            // PT_NOTE: the size of the name, of the content, a type, and the name. Go writes its build ID under its name.
            case 4: if content.dropFirst(12).starts(with: Array("Go\0\0".utf8)) { isGo = true }
            default: break
            }
        }
        return .elf(loader: loader, isGo: isGo)
    }
}
#endif
