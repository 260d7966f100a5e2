import AFWire
import Foundation

extension URLRequest {
    /// Asks for the bytes from an offset to the end, or through the offset `last`, which is included.
    ///
    /// Throws a `URLError` if an offset is negative or the range ends before it begins; the request is then unchanged.
    public mutating func setByteRange(from first: Int64, through last: Int64? = nil) throws {
        do throws(RequestRejection) {
            setValue(try ByteRange(from: first, through: last).fieldValue, forHTTPHeaderField: "Range")
        } catch {
            throw LoadError.rejected(error).urlError(for: url)
        }
    }

    /// Asks for the last `count` bytes.
    ///
    /// Throws a `URLError` if the count is not positive; the request is then unchanged.
    public mutating func setByteRange(last count: Int64) throws {
        do throws(RequestRejection) {
            setValue(try ByteRange(last: count).fieldValue, forHTTPHeaderField: "Range")
        } catch {
            throw LoadError.rejected(error).urlError(for: url)
        }
    }
}
